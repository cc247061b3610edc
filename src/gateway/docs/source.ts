import { parseExact } from '../../shared/text/exact-numbers.js';
import { operationsOf } from '../contract/document/operations.js';
import { list, mapping, targetOf, type Mapping } from '../contract/document/references.js';
import { normalTemplate } from '../contract/document/template.js';
import type { Operation } from '../contract/operation/operation.js';

/** A longer chain of references is treated as a cycle. */
const MAX_STEPS = 20;

/** Returns what a value is or refers to (empty if that is no mapping), and its reference, if it is one. */
export type Resolve = (value: unknown) => { readonly reference: string | null; readonly value: Mapping };

/** Returns the document, and how to read an operation with the parameters of its path. It is parsed when needed. */
export function createSource(document: Buffer) {
  let parsed: WeakRef<Mapping> | undefined;
  const root = (): Mapping => {
    const found = parsed?.deref() ?? (parseExact(document.toString()) as Mapping);
    parsed = new WeakRef(found);
    return found;
  };
  const read = ({ method, path }: Operation) => {
    const resolve = createResolve(root());
    const paths = mapping(root()['paths']);
    const item = mapping(paths[path] ?? Object.entries(paths).find(([name]) => normalTemplate(name) === path)?.[1]);
    const described = mapping([...operationsOf(item)].find(([name]) => name === method)?.[1]);
    const declared = [item, described].flatMap(({ parameters }) => list(parameters)).map((each) => resolve(each).value);
    const byName = new Map(declared.map((each) => [JSON.stringify([each['in'], each['name']]), each]));
    return { described, parameters: [...byName.values()], resolve };
  };
  return { root, read };
}

/** Members next to a reference override those of its target. */
function createResolve(root: Mapping): Resolve {
  return (given) => {
    let value = mapping(given);
    let first: string | null = null;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const { $ref: reference, ...own } = value;
      if (typeof reference !== 'string') break;
      first ??= reference;
      value = { ...mapping(targetOf(reference, root)), ...own };
    }
    return { reference: first, value };
  };
}
