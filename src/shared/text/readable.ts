/** Formats any value for one table cell, without control characters, which could come from a client. */
export function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replace(/\p{Cc}/gu, '?');
}

/** Formats any value as words: `minute 60, day 1000`. */
export function readable(value: unknown): string {
  if (typeof value !== 'object' || value === null) return cell(value);
  if (!Array.isArray(value))
    return (
      Object.entries(value)
        .map(([name, part]) => `${cell(name)} ${readable(part)}`)
        .join(', ') || '-'
    );
  const isOfObjects = value.some((item) => typeof item === 'object');
  return value.map(readable).join(isOfObjects ? '; ' : ', ') || '-';
}

/** Describes what changed in a record: `plan: free → pro, name: My app`. */
export function changesText(changed: Readonly<Record<string, unknown>>): string {
  const textOf = (value: unknown): string => {
    const step = value as { readonly from?: unknown; readonly to?: unknown } | null;
    return typeof step === 'object' && step !== null && 'from' in step && 'to' in step
      ? `${readable(step.from)} → ${readable(step.to)}`
      : readable(value);
  };
  const fields = Object.entries(changed).filter(([, value]) => value !== null);
  return fields.map(([field, value]) => `${field}: ${textOf(value)}`).join(', ');
}
