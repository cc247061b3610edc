import type { Test } from 'tap';
import type { NewPet, Pet, PetStatus, PetStore } from '../../../src/pets/store/port.js';

/** Opens the store once more on the same data; called with a new name, on data of its own. */
type OpenStore = (data: string) => Promise<PetStore>;

/** More than connections, and few enough that the last one waits less than two seconds on a busy machine. */
const AT_ONCE = 60;
const EXTREMES = [0n, -1n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
const NAMES = [
  'R',
  'x'.repeat(200),
  '😀'.repeat(200),
  ' spaces kept ',
  'O\'Brien "the" \\ $1',
  'é e\u0301',
  '\u2028\u202e\uFEFF',
  "'); drop table pets; --",
];

/**
 * What every store promises, whatever it keeps the pets in.
 * @param isShared whether several processes may open one catalogue
 */
export function storeContract(t: Test, open: OpenStore, isShared = false): void {
  const fresh = async (test: Test): Promise<PetStore> => {
    const store = await open(test.name.replace(/\W+/g, '_'));
    test.teardown(() => store.close());
    return store;
  };

  t.test('ids are positive and grow with each pet', async (t) => {
    const store = await fresh(t);
    let lastId = 0n;
    for (let count = 0; count < 20; count += 1) {
      const { id } = await store.add({ name: 'Rex', categoryId: 1n });
      t.ok(id > lastId, `${id.toString()} after ${lastId.toString()}`);
      lastId = id;
    }
  });

  t.test('pets added at once each get an id of their own and are all kept', async (t) => {
    const store = await fresh(t);
    const pets = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => store.add({ name: `Rex ${index}`, categoryId: BigInt(index) })),
    );
    t.equal(new Set(pets.map((pet) => pet.id)).size, AT_ONCE);
    for (const pet of pets) t.same(await store.read(pet.id), pet);
  });

  t.test('what was sent comes back: every digit, every character, a status only where one was sent', async (t) => {
    const store = await fresh(t);
    const sent: NewPet[] = [
      ...EXTREMES.map((categoryId) => ({ name: 'Rex', categoryId })),
      ...NAMES.map((name) => ({ name, categoryId: 1n })),
      ...(['available', 'pending', 'sold'] as const).map((status) => ({ name: 'Rex', categoryId: 1n, status })),
    ];
    for (const pet of sent) {
      const { id } = await store.add(pet);
      t.same(await store.read(id), { id, ...pet });
    }
    t.same(
      (await store.page({ afterId: 0n, count: 100, status: undefined })).map(({ name, categoryId }) => [
        name,
        categoryId,
      ]),
      sent.map(({ name, categoryId }) => [name, categoryId]),
    );
  });

  t.test('an id that was never given has no pet', async (t) => {
    const store = await fresh(t);
    const { id } = await store.add({ name: 'Rex', categoryId: 1n });
    t.equal(await store.read(id + 1n), undefined);
    t.equal(await store.read(2n ** 63n - 1n), undefined);
  });

  t.test('pages go by id, hold only the status asked for, and end where the pets end', async (t) => {
    const store = await fresh(t);
    const statuses: (PetStatus | undefined)[] = ['available', 'pending', 'sold', undefined];
    const pets: Pet[] = [];
    for (let index = 0; index < 40; index += 1) {
      const status = statuses[(index * 7) % 4];
      pets.push(await store.add({ name: `Rex ${index}`, categoryId: 1n, ...(status !== undefined && { status }) }));
    }
    for (const status of [undefined, 'available', 'pending', 'sold'] as const) {
      const expected = pets.filter((pet) => status === undefined || pet.status === status);
      const seen: Pet[] = [];
      for (;;) {
        const page = await store.page({ afterId: seen.at(-1)?.id ?? 0n, count: 7, status });
        seen.push(...page);
        if (page.length < 7) break;
      }
      t.same(seen, expected, status ?? 'all');
    }
    t.same(await store.page({ afterId: 2n ** 63n - 1n, count: 7, status: undefined }), []);
    t.same(await store.page({ afterId: 2n ** 63n - 1n, count: 7, status: 'sold' }), []);
  });

  t.test('an empty store has empty pages and passes its check', async (t) => {
    const store = await fresh(t);
    await store.check();
    t.same(await store.page({ afterId: 0n, count: 10, status: undefined }), []);
    t.same(await store.page({ afterId: 0n, count: 10, status: 'available' }), []);
  });

  t.test('what was kept is there after closing and opening, and no id comes twice', async (t) => {
    const first = await open('reopened');
    const before = await first.add({ name: 'Rex', categoryId: 1n, status: 'sold' });
    await first.close();
    const second = await open('reopened');
    t.teardown(() => second.close());
    t.same(await second.read(before.id), before);
    t.ok((await second.add({ name: 'Rex', categoryId: 1n })).id > before.id);
  });

  if (!isShared) return;
  t.test('two stores on one catalogue never give an id twice, and see each other at once', async (t) => {
    const stores = [await open('shared'), await open('shared')] as const;
    t.teardown(() => Promise.all(stores.map((store) => store.close())));
    const pets = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        stores[index % 2 === 0 ? 0 : 1].add({ name: `Rex ${index}`, categoryId: 1n }),
      ),
    );
    t.equal(new Set(pets.map((pet) => pet.id)).size, 100);
    const late = await stores[0].add({ name: 'Late', categoryId: 1n });
    t.same(await stores[1].read(late.id), late);
  });
}
