interface Window {
  readonly name: string;
  readonly limit: number | 'unlimited';
}

/** Returns the limit of the day, for a plot of days; undefined if there is none. */
export function dayLimit(windows: readonly Window[]): { readonly label: string; readonly figure: number } | undefined {
  const day = windows.find(({ name }) => name === 'day');
  return day === undefined || day.limit === 'unlimited' ? undefined : { label: 'limit a day', figure: day.limit };
}
