import type { Child } from '#jsx/jsx-runtime';
import type { Form } from '../form.js';

/** What each form that changes something holds, hidden: that it is of this session, and which one it is. */
export interface Guard {
  readonly formToken: string;
  readonly submission: string;
}

interface PostFormParts {
  readonly action: string;
  readonly guard: Guard;
  readonly button: string;
  /** Main: what the page is for; danger: what can't be undone. */
  readonly kind?: 'main' | 'danger' | undefined;
  readonly inline?: boolean;
  readonly children?: Child;
}

export function PostForm({ action, guard, button, kind, inline, children }: PostFormParts) {
  return (
    <form method="post" action={action} class={inline === true ? 'inline' : undefined} autocomplete="off">
      <input type="hidden" name="form" value={guard.formToken} />
      <input type="hidden" name="submission" value={guard.submission} />
      {children}
      <button class={kind}>{button}</button>
    </form>
  );
}

/** A form that comes back to be corrected, with what is wrong, each beginning with its field: `plan: …`. */
export interface Submitted {
  readonly form: Form;
  readonly problems: readonly string[];
}

/** Of the forms of a page, the one that was sent, which a field tells that no other has. */
export function sentWith(field: string, form: Form, problems: readonly string[]): Submitted | undefined {
  return form.has(field) ? { form, problems } : undefined;
}

interface FieldParts {
  readonly name: string;
  readonly label: string;
  readonly hint?: Child;
  /** What was entered comes back from it, instead of the value. */
  readonly sent?: Submitted | undefined;
}

interface TextFieldParts extends FieldParts {
  readonly value?: string | undefined;
  readonly type?: 'text' | 'password' | 'date' | 'month' | 'number' | 'search' | 'url';
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly maxlength?: number;
  readonly autocomplete?: string;
  readonly autofocus?: boolean;
}

export function TextField({ name, label, hint, sent, type = 'text', value, ...input }: TextFieldParts) {
  const own = problemsOf(name, sent);
  return (
    <div class="field">
      <label for={idOf(name)}>{label}</label>
      <input
        {...{ id: idOf(name), name, type, ...input, ...described(name, hint, own) }}
        value={sent?.form.text(name) ?? value}
      />
      <Help {...{ name, hint, own }} />
    </div>
  );
}

export function TextAreaField({
  name,
  label,
  hint,
  ...area
}: Omit<FieldParts, 'sent'> & { readonly value: string; readonly rows: number; readonly required?: boolean }) {
  return (
    <div class="field">
      <label for={idOf(name)}>{label}</label>
      <textarea id={idOf(name)} name={name} spellcheck={false} {...area} {...described(name, hint, [])} />
      <Help {...{ name, hint, own: [] }} />
    </div>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

export function SelectField({
  name,
  label,
  hint,
  sent,
  choices,
  value,
}: FieldParts & { readonly choices: readonly Choice[]; readonly value?: string | undefined }) {
  const own = problemsOf(name, sent);
  const chosen = sent?.form.text(name) ?? value;
  return (
    <div class="field">
      <label for={idOf(name)}>{label}</label>
      <select id={idOf(name)} name={name} {...described(name, hint, own)}>
        {choices.map((choice) => (
          <option value={choice.value} selected={choice.value === chosen}>
            {choice.label}
          </option>
        ))}
      </select>
      <Help {...{ name, hint, own }} />
    </div>
  );
}

/** Boxes of one name, any of which may be ticked. */
export function CheckFields({
  name,
  label,
  hint,
  sent,
  choices,
}: FieldParts & { readonly choices: readonly Choice[] }) {
  const own = problemsOf(name, sent);
  const ticked = sent?.form.all(name) ?? [];
  return (
    <fieldset {...described(name, hint, own)}>
      <legend>{label}</legend>
      {choices.map(({ value, label: text }, index) => (
        <div class="field check">
          <input
            id={`${idOf(name)}-${index}`}
            type="checkbox"
            name={name}
            value={value}
            checked={ticked.includes(value)}
          />
          <label for={`${idOf(name)}-${index}`}>{text}</label>
        </div>
      ))}
      <Help {...{ name, hint, own }} />
    </fieldset>
  );
}

function Help({ name, hint, own }: { readonly name: string; readonly hint: Child; readonly own: readonly string[] }) {
  if (hint === undefined && own.length === 0) return null;
  return (
    <div id={`${idOf(name)}-help`}>
      {own.map((problem) => (
        <p class="problem">{problem}</p>
      ))}
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}

function described(name: string, hint: Child, own: readonly string[]) {
  return {
    'aria-invalid': own.length > 0 ? 'true' : undefined,
    'aria-describedby': hint !== undefined || own.length > 0 ? `${idOf(name)}-help` : undefined,
  };
}

function problemsOf(name: string, sent: Submitted | undefined): readonly string[] {
  const own = (sent?.problems ?? []).filter((problem) => problem.startsWith(`${name}: `));
  return own.map((problem) => problem.slice(name.length + 2));
}

function idOf(name: string): string {
  return `field-${name}`;
}
