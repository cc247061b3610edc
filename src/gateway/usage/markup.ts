const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** `value` as text of an HTML element or attribute. */
export function text(value: string): string {
  return value.replace(/[&<>"']/g, (sign) => ESCAPES[sign]!);
}
