import { CheckFields, SelectField, TextField, type Submitted } from '../../pages/components/form.js';
import type { Form } from '../../pages/form.js';
import { LimitFields, limitsIn } from './limits.js';
import type { Visit } from '../visit/page.js';
import type { Offered, Property } from './table.js';

interface FieldsParts extends Pick<Offered, 'fields' | 'required'> {
  readonly visit: Visit;
  /** Initial values. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
  readonly sent: Submitted | undefined;
}

/** Labels that differ from the field's name. */
const LABELS: Readonly<Record<string, string>> = {
  ...{ customer: 'Customer ID', day: 'Day (UTC)', expires: 'Expires (UTC)', until: 'Until (UTC)' },
};
/** Fields without a hint. */
const PLAIN = ['name', 'note', 'window', 'role'];

export function Fields({ visit, fields, required, values = {}, sent }: FieldsParts) {
  return (
    <>
      {Object.entries(fields).map(([name, property]) =>
        fieldFor({ name, property, isRequired: required.includes(name), value: textIn(values[name]), visit, sent }),
      )}
    </>
  );
}

interface FieldParts extends Pick<FieldsParts, 'visit' | 'sent'> {
  readonly name: string;
  readonly property: Property;
  readonly isRequired: boolean;
  readonly value: string | undefined;
}

function fieldFor({ name, property, isRequired, value, visit, sent }: FieldParts) {
  const label = LABELS[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
  if (name === 'limits') return <LimitFields sent={sent} />;
  if (name === 'scopes') return <ScopeFields visit={visit} sent={sent} />;
  if (property.format === 'plan') {
    // The current plan may be retired or gone.
    const plans = new Set([...(value === undefined ? [] : [value]), ...visit.parts.registry.openPlans]);
    return <SelectField {...{ name, label, value, sent }} choices={[...plans]} />;
  }
  if (property.enum !== undefined) return <SelectField {...{ name, label, value, sent }} choices={property.enum} />;
  return (
    <TextField
      {...{ name, label, value, sent, required: isRequired }}
      {...(property.maxLength === undefined ? {} : { maxlength: property.maxLength })}
      type={property.type === 'integer' ? 'number' : property.format === 'date' ? 'date' : 'text'}
      hint={PLAIN.includes(name) ? undefined : hintOf(name, property)}
    />
  );
}

function ScopeFields({ visit, sent }: Pick<FieldsParts, 'visit' | 'sent'>) {
  const { scopes } = visit.parts.registry;
  if (scopes.length === 0) return null;
  return <CheckFields name="scopes" label="Scopes" hint="None selected: all scopes." choices={scopes} sent={sent} />;
}

function hintOf(name: string, { description }: Property): string | undefined {
  if (name === 'expires') return 'Such as 2027-01-31; empty for never.';
  if (name === 'until') return 'Such as 2027-01-31 or 2027-01-31T12:00:00Z.';
  return description === undefined ? undefined : `${description}.`;
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Returns the JSON body that a submitted form makes.
 * @param isChange true: an empty text is sent, to clear the field; false: it is left out
 */
export function bodyIn(fields: Offered['fields'], form: Form, isChange: boolean): Readonly<Record<string, unknown>> {
  const read = ([name, { type }]: [string, Property]): readonly (readonly [string, unknown])[] => {
    if (name === 'limits') return Object.entries(limitsIn(form));
    if (name === 'scopes') return form.has(name) ? [[name, form.all(name)]] : [];
    const text = isChange && form.has(name) ? form.text(name) : form.given(name);
    return text === undefined ? [] : [[name, type === 'integer' ? Number(text) : text]];
  };
  return Object.fromEntries(Object.entries(fields).flatMap(read));
}
