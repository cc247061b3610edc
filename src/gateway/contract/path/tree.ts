import { fitsSegment, parseTemplate, type Segment } from './segments.js';

/** A node of the tree, with the segment that leads to it. */
export interface Node<End> {
  readonly texts: readonly string[];
  /** The segment with `{}` for each parameter: parameter names do not distinguish paths. */
  readonly shape: string;
  /** The result for a path that ends here; undefined if no template does. */
  end: End | undefined;
  /** Children with a segment without parameters, by the hash of its text. */
  readonly byText: Map<number, Node<End>[]>;
  /** Children with a segment with parameters, in the order in which they are tried. */
  readonly templated: Node<End>[];
  /** Children with a segment whose last parameter takes the rest of the path; tried last. */
  readonly greedy: Node<End>[];
}

const SLASH = 47;

export function createNode<End>(texts: readonly string[] = []): Node<End> {
  return { texts, shape: texts.join('{}'), end: undefined, byText: new Map(), templated: [], greedy: [] };
}

/** Returns the node where a template ends; creates it if needed. */
export function insert<End>(root: Node<End>, template: string): Node<End> {
  let node = root;
  for (const segment of parseTemplate(template)) node = childOf(node, segment);
  return node;
}

/**
 * Returns the `end` of the preferred template that fits the path; undefined if none does.
 * @param start where the next segment begins; beyond the end of the path if there is none
 */
export function find<End>(node: Node<End>, path: string, start: number): End | undefined {
  if (start > path.length) return node.end;
  let end = start;
  let hash = 0;
  for (let code = path.charCodeAt(end); end < path.length && code !== SLASH; code = path.charCodeAt(end)) {
    hash = addTo(hash, code);
    end += 1;
  }
  const same = node.byText.size === 0 ? undefined : node.byText.get(hash);
  const found = (same && findIn(same, path, start, end)) ?? findIn(node.templated, path, start, end);
  return found ?? (node.greedy.length === 0 ? undefined : findIn(node.greedy, path, start, path.length));
}

/** Returns whether another template may be preferred for a path that fits both. The template must be in the tree. */
export function hasRivals<End>(root: Node<End>, template: string): boolean {
  let node = root;
  return parseTemplate(template).some((segment) => {
    const before = node;
    node = childOf(node, segment);
    return segment.texts.length > 1 && (before.byText.size > 0 || [...before.templated, ...before.greedy][0] !== node);
  });
}

function findIn<End>(nodes: readonly Node<End>[], path: string, start: number, end: number): End | undefined {
  for (const node of nodes) {
    // Shortcut: most segments with a parameter consist only of it.
    const fits = node.shape === '{}' ? end > start : fitsSegment(node.texts, path, start, end);
    const found = fits ? find(node, path, end + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function childOf<End>(node: Node<End>, { texts, isGreedy }: Segment): Node<End> {
  const siblings = texts.length === 1 ? sameHash(node, texts[0]!) : isGreedy ? node.greedy : node.templated;
  const wanted = texts.join('{}');
  const known = siblings.find(({ shape }) => shape === wanted);
  if (known !== undefined) return known;
  const child = createNode<End>(texts);
  siblings.push(child);
  siblings.sort(inOrder);
  return child;
}

function sameHash<End>({ byText }: Node<End>, text: string): Node<End>[] {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = addTo(hash, text.charCodeAt(at));
  const nodes = byText.get(hash) ?? [];
  byText.set(hash, nodes);
  return nodes;
}

function addTo(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0;
}

function inOrder<End>(a: Node<End>, b: Node<End>): number {
  const length = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
  return length(b.texts) - length(a.texts) || a.texts.length - b.texts.length || (a.shape < b.shape ? -1 : 1);
}
