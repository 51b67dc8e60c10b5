// The changes that a mutation run makes to a source file, one at a time. Each is a plausible mistake: a condition turned round, a
// limit off by one, a call left out, one of two lists forgotten.
import ts from "typescript";

const SWAPPED = new Map([
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
  ["===", "!=="],
  ["!==", "==="],
  ["+", "-"],
  ["-", "+"],
  ["*", "/"],
  ["/", "*"],
  ["&&", "||"],
  ["||", "&&"],
]);

/** Calls that return what they are called on, changed: left out, the program still runs. */
const CHAINED = new Set(["filter", "slice", "toSorted", "sort", "toReversed", "reverse", "trim", "flat"]);

/**
 * Every mutation of a source text, in the order of the text.
 *
 * @returns {{ start: number, end: number, text: string, what: string }[]} the replacement of [start, end), in UTF-16 units
 */
export function mutationsOf(source) {
  const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.ESNext, true);
  const found = [];
  const replace = (node, text, what) => found.push({ start: node.getStart(file), end: node.getEnd(), text, what });
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isImportDeclaration(node)) return;
    for (const mutate of MUTATORS) mutate(node, replace, file);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

const MUTATORS = [
  function condition(node, replace) {
    const tested = ts.isIfStatement(node) ? node.expression : ts.isConditionalExpression(node) ? node.condition : undefined;
    if (tested === undefined) return;
    replace(tested, "true", "condition is always true");
    replace(tested, "false", "condition is always false");
  },
  function operator(node, replace, file) {
    if (!ts.isBinaryExpression(node)) return;
    const swapped = SWAPPED.get(node.operatorToken.getText(file));
    const isText = [node.left, node.right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
    if (swapped !== undefined && !isText) replace(node.operatorToken, swapped, `${node.operatorToken.getText(file)} becomes ${swapped}`);
    if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) replace(node, node.left.getText(file), "the fallback is missing");
  },
  function literal(node, replace, file) {
    if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node, "false", "true becomes false");
    if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node, "true", "false becomes true");
    if (ts.isNumericLiteral(node)) replace(node, `(${node.getText(file)} + 1)`, "a number is one larger");
  },
  function negation(node, replace, file) {
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      replace(node, node.operand.getText(file), "! is missing");
  },
  function call(node, replace, file) {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
    const { expression, name } = node.expression;
    const called = `${expression.getText(file)}.${name.text}`;
    if (called === "Math.min") replace(name, "max", "min becomes max");
    if (called === "Math.max") replace(name, "min", "max becomes min");
    if (name.text === "some") replace(name, "every", "some becomes every");
    if (name.text === "every") replace(name, "some", "every becomes some");
    if (CHAINED.has(name.text)) replace(node, expression.getText(file), `.${name.text}() is left out`);
  },
  function statement(node, replace) {
    if (
      ts.isExpressionStatement(node) &&
      ts.isCallExpression(node.expression) &&
      node.expression.expression.kind !== ts.SyntaxKind.SuperKeyword
    )
      replace(node, ";", "a call is left out");
  },
  function element(node, replace, file) {
    if (!ts.isArrayLiteralExpression(node) || node.elements.length < 2) return;
    for (const left of node.elements) if (ts.isSpreadElement(left)) replace(left, "", `${left.getText(file)} is left out of a list`);
  },
];
