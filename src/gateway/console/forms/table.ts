import { z } from 'zod';
import type { Action } from '../../actions/action.js';
import type { Form } from '../../actions/form.js';
import { ACTIONS } from '../../actions/table/actions.js';

/** The JSON schema of a field of a body. */
export interface Property {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly description?: string;
}

/** An action with one of its forms. */
export interface Offered {
  readonly action: Action;
  /** Method and path of the action. */
  readonly line: string;
  readonly form: Form;
  readonly fields: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
}

export const FORMS: readonly Offered[] = ACTIONS.flatMap((action) =>
  [action.forms ?? []].flat().map((form) => ({
    action,
    line: `${action.method} ${action.path}`,
    form,
    ...fieldsOf(action.takes, form),
  })),
);

/** Returns the fields of a body that the form has. */
export function fieldsOf(
  takes: z.ZodType | undefined,
  { fields, sends, subject }: Pick<Form, 'fields' | 'sends' | 'subject'>,
): Pick<Offered, 'fields' | 'required'> {
  if (takes === undefined || sends !== undefined) return { fields: {}, required: [] };
  const schema = z.toJSONSchema(takes, { io: 'input' });
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Property>>;
  const names = fields ?? Object.keys(properties).filter((name) => name !== subject);
  return {
    fields: Object.fromEntries(names.map((name) => [name, properties[name] ?? {}])),
    required: schema.required ?? [],
  };
}

/** Returns a form of a page by name. Throws if there is none. */
export function formOn(page: string, name: string): Offered {
  const found = FORMS.find(({ form }) => form.on === page && form.name === name);
  if (found === undefined) throw new Error(`no action has a form "${name}" on ${page}`);
  return found;
}
