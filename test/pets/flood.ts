import type { Answer, Caller } from './service.js';

/**
 * Adds pets over several connections until `count` are acknowledged or the service is gone; what was acknowledged, by
 * id.
 */
export async function flood(pets: Caller, count: number, label: string): Promise<Map<string, string>> {
  const acknowledged = new Map<string, string>();
  const worker = async (lane: number): Promise<void> => {
    for (let turn = 0; acknowledged.size < count; turn += 1) {
      let answer: Answer;
      try {
        answer = await pets.send(
          'POST',
          '/v1/pets',
          `{"name":"${label} ${lane}.${turn}","categoryId":${lane}${turn % 3 === 0 ? ',"status":"sold"' : ''}}`,
        );
      } catch {
        return;
      }
      if (answer.status !== 201) throw new Error(answer.text);
      const id = /^\{"id":([0-9]+)/.exec(answer.text)?.[1] ?? '';
      if (acknowledged.has(id)) throw new Error(`id ${id} twice`);
      acknowledged.set(id, answer.text);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, lane) => worker(lane)));
  return acknowledged;
}

/** As the service writes them, in its order. */
export async function everyPet(pets: Caller, filter = ''): Promise<string[]> {
  const seen: string[] = [];
  for (let path: string | undefined = `/v1/pets?limit=100${filter}`; path !== undefined;) {
    const page = await pets.send('GET', path);
    seen.push(...(page.text.match(/\{[^}]*\}/g) ?? []));
    path = /^<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return seen;
}
