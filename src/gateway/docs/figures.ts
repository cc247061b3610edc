export function figure(limit: number | string): string {
  return typeof limit === 'number' ? limit.toLocaleString('en') : limit;
}

export function costText(cost: number): string {
  if (cost === 0) return 'nothing';
  return cost === 1 ? '1 unit' : `${figure(cost)} units`;
}
