import { Badge } from '../../pages/components/notice.js';

export function State({ state }: { readonly state: string }) {
  const level = state === 'enabled' ? 'good' : state === 'disabled' || state === 'banned' ? 'warn' : 'danger';
  return <Badge level={level}>{state.replaceAll('_', ' ')}</Badge>;
}
