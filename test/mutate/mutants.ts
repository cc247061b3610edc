import ts from 'typescript';

/** One change to a program that its tests should notice. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** `a < b → a <= b`, shortened. */
  readonly about: string;
}

const { SyntaxKind } = ts;

const OPERATORS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '/'],
  [SyntaxKind.SlashToken, '*'],
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
  [SyntaxKind.PlusEqualsToken, '-='],
  [SyntaxKind.MinusEqualsToken, '+='],
]);
const FUNCTIONS: Readonly<Record<string, string>> = {
  'Math.min': 'Math.max',
  'Math.max': 'Math.min',
  'Math.floor': 'Math.ceil',
  'Math.ceil': 'Math.floor',
};
const SHOWN = 60;

/** Every mutant of a module: another operator, condition, number, boolean or function, or a call left out. */
export function mutantsOf(text: string): readonly Mutant[] {
  const file = ts.createSourceFile('module.js', text, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const add = (node: ts.Node, replacement: string, shown = node): void => {
    const [start, end] = [node.getStart(file), node.getEnd()];
    const before = shown.getText(file);
    const after =
      before.slice(0, start - shown.getStart(file)) + replacement + before.slice(end - shown.getStart(file));
    mutants.push({ start, end, text: replacement, about: `${short(before)} → ${short(after)}` });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    mutate(node, file, add);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants;
}

function mutate(node: ts.Node, file: ts.SourceFile, add: (node: ts.Node, text: string, shown?: ts.Node) => void): void {
  if (ts.isBinaryExpression(node)) {
    const { operatorToken: operator, left, right } = node;
    const other = OPERATORS.get(operator.kind);
    const isText = operator.kind === SyntaxKind.PlusToken && [left, right].some(hasText);
    if (other !== undefined && !isText) add(operator, other, node);
  } else if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition;
    for (const value of ['true', 'false']) add(condition, value);
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    add(node, node.operand.getText(file));
  else if (ts.isNumericLiteral(node) && !ts.isVoidExpression(node.parent))
    add(
      node,
      `${node.text}+1`.replace(/^(\d+)\+1$/, (_, n: string) => `${Number(n) + 1}`),
    );
  else if (node.kind === SyntaxKind.TrueKeyword) add(node, 'false');
  else if (node.kind === SyntaxKind.FalseKeyword) add(node, 'true');
  else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) add(node, ';');
  else if (ts.isPropertyAccessExpression(node)) {
    const other = FUNCTIONS[node.getText(file)];
    if (other !== undefined) add(node, other);
  }
}

/** Whether a sum is a text. */
function hasText(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return [node.left, node.right].some(hasText);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
}
