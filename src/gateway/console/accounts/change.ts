import type { Visit } from '../page.js';
import { limitsIn } from './limits.js';

/** The fields of a form that changes a key or a customer; one that the form does not have stays. */
export function changeIn({ form }: Visit): Readonly<Record<string, unknown>> {
  const fields = ['name', 'plan', 'reference', 'note'].filter((name) => form.has(name));
  return { ...Object.fromEntries(fields.map((name) => [name, form.text(name)])), ...limitsIn(form) };
}
