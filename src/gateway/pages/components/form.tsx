import type { Child } from '#jsx/jsx-runtime';
import type { Form } from '../form.js';

/** Hidden fields of each form that changes something: proof of its session, and an ID of the submission. */
export interface Guard {
  readonly formToken: string;
  readonly submission: string;
}

interface PostFormParts {
  readonly action: string;
  readonly guard: Guard;
  readonly button: string;
  /** `main`: the page's main purpose; `danger`: cannot be undone. */
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

/** A form that only reads: its fields become the query of the address. */
export function SearchForm({
  action,
  button = 'Search',
  children,
}: Pick<PostFormParts, 'action' | 'children'> & { readonly button?: string }) {
  return (
    <form method="get" action={action} class="inline">
      {children}
      <button>{button}</button>
    </form>
  );
}

/** A form shown again for correction. Each problem begins with its field: `plan: …`. */
export interface Submitted {
  readonly form: Form;
  readonly problems: readonly string[];
}

/** Returns the submitted form if it has `field`, which only one form of the page has; undefined otherwise. */
export function sentWith(field: string, form: Form, problems: readonly string[]): Submitted | undefined {
  return form.has(field) ? { form, problems } : undefined;
}

interface FieldParts {
  readonly name: string;
  readonly label: string;
  readonly hint?: Child;
  /** What was entered, shown instead of the value. */
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

/** A text is its own label. */
type Choice = string | { readonly value: string; readonly label: string };

interface SelectFieldParts extends FieldParts {
  readonly choices: readonly Choice[];
  readonly value?: string | undefined;
  /** Label of an empty choice above the others. */
  readonly none?: string;
}

export function SelectField({ name, label, hint, sent, choices, value, none }: SelectFieldParts) {
  const own = problemsOf(name, sent);
  const chosen = sent?.form.text(name) ?? value;
  return (
    <div class="field">
      <label for={idOf(name)}>{label}</label>
      <select id={idOf(name)} name={name} {...described(name, hint, own)}>
        {[...(none === undefined ? [] : [{ value: '', label: none }]), ...choices].map(labelled).map((choice) => (
          <option value={choice.value} selected={choice.value === chosen}>
            {choice.label}
          </option>
        ))}
      </select>
      <Help {...{ name, hint, own }} />
    </div>
  );
}

/** Checkboxes with one name, any number of which may be checked. */
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
      {choices.map(labelled).map(({ value, label: text }, index) => (
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

function labelled(choice: Choice) {
  return typeof choice === 'string' ? { value: choice, label: choice } : choice;
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
