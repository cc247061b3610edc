import { PostForm, TextField } from '../../pages/components/form.js';
import { CONSOLE, type Visit } from '../visit/page.js';
import { Fields } from './fields.js';
import { FORMS, formOn, type Offered } from './table.js';

interface FormParts {
  readonly visit: Visit;
  /** The record that the page shows; it fills the fields. */
  readonly record?: object;
}

/** Renders the forms of a page that fit the record and the visitor's role; dangerous ones come last. */
export function ActionForms({ visit, record = {} }: FormParts) {
  const fitting = FORMS.filter(
    ({ form: { on, isApart, isFor = () => true }, line }) =>
      on === visit.on && isApart !== true && visit.api.may(line) && isFor(record as Readonly<Record<string, unknown>>),
  );
  const groups = new Map<string, Offered[]>();
  for (const each of fitting) {
    const name = each.form.opens ?? each.form.name;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const rank = ([one]: readonly Offered[]): number =>
    one!.form.opens === undefined ? 0 : one!.form.isDanger === true ? 2 : 1;
  const ordered = [...groups.values()].sort((one, other) => rank(one) - rank(other));
  return ordered.length === 0 ? null : (
    <div class="actions">
      {ordered.map((group) => (
        <Opened {...{ visit, record, group }} />
      ))}
    </div>
  );
}

interface OneParts extends FormParts {
  readonly name: string;
  /** The ID of the table row that the form belongs to. */
  readonly row?: string;
  readonly label?: string;
}

/** Renders one form of a page; null if the visitor may not use it. */
export function ActionForm({ name, ...parts }: OneParts) {
  const one = formOn(parts.visit.on, name);
  return parts.visit.api.may(one.line) ? <Opened {...parts} group={[one]} /> : null;
}

type OpenedParts = FormParts & Pick<OneParts, 'row' | 'label'> & { readonly group: readonly Offered[] };

function Opened({ group, label, ...parts }: OpenedParts) {
  const [{ form }] = group as readonly [Offered];
  const forms = group.map((one) => <Posted {...parts} one={one} />);
  if (form.opens === undefined) return <>{forms}</>;
  return (
    <details open={group.some((one) => isSent(parts.visit, one) || isLinked(parts.visit, one))}>
      <summary aria-label={label}>{form.opens}</summary>
      {forms}
    </details>
  );
}

function Posted({ visit, record, row, one }: Omit<OpenedParts, 'group' | 'label'> & { one: Offered }) {
  const { form, fields, required, action } = one;
  const sent = isSent(visit, one) ? { form: visit.form, problems: visit.problems } : undefined;
  const isOfOther = action.path.includes('{id}') && !form.on.includes('{id}');
  const path = `${CONSOLE}${form.on}/${form.name}`.replace('{id}', encodeURIComponent(visit.id));
  return (
    <PostForm
      action={path.replace('{part}', encodeURIComponent(row ?? ''))}
      guard={visit.guard()}
      button={form.button}
      kind={form.isDanger === true ? 'danger' : undefined}
      inline={Object.keys(fields).length === 0}
    >
      {isOfOther &&
        (row === undefined ? (
          <TextField name="id" label="Key ID" required sent={sent} />
        ) : (
          <input type="hidden" name="id" value={row} />
        ))}
      <Fields {...{ visit, fields, required, sent }} values={{ ...form.initial, ...record, ...linked(visit, one) }} />
    </PostForm>
  );
}

/** Whether the address asks to open the form: `?open=corrected&day=2026-10-31`. */
function isLinked({ query }: Visit, { form: { name } }: Offered): boolean {
  return query.given('open') === name;
}

/** Returns the values that the address has for the form. */
function linked(visit: Visit, one: Offered): Readonly<Record<string, unknown>> {
  if (!isLinked(visit, one)) return {};
  const given = Object.keys(one.fields).map((name) => [name, visit.query.given(name)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function isSent({ posted }: Visit, { form: { on, name } }: Offered): boolean {
  return posted === `${on}/${name}`;
}
