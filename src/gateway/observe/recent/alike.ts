interface Failed {
  readonly status: number;
  readonly code: string | null;
  readonly operation: string;
}

/** Groups refused or failed exchanges by status, code and operation. Keeps their order. */
export function alike<Exchange extends Failed>(
  exchanges: readonly Exchange[],
): readonly (readonly [Exchange, ...Exchange[]])[] {
  const groups = new Map<string, [Exchange, ...Exchange[]]>();
  for (const one of exchanges) {
    const name = [one.status, one.code, one.operation].join(' ');
    const known = groups.get(name);
    if (known === undefined) groups.set(name, [one]);
    else known.push(one);
  }
  return [...groups.values()];
}
