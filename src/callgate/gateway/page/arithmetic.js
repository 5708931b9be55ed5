// A calculator that reads what it is given, and runs nothing.
//
//   sum     = product { ("+" | "-") product }
//   product = sign { ("*" | "/" | "%") sign }
//   sign    = ("+" | "-") sign | power
//   power   = factorial [ "^" sign ]
//   factorial = atom { "!" }
//   atom    = number | constant | function "(" sum { "," sum } ")" | "(" sum ")"

const LONGEST = 1000;
const DEEPEST = 100;
const DIGITS = 15;
const LARGEST_FACTORIAL = 170;

const CONSTANTS = new Map([
  ["pi", Math.PI],
  ["π", Math.PI],
  ["tau", 2 * Math.PI],
  ["e", Math.E],
]);
const FUNCTIONS = new Map([
  ["abs", Math.abs],
  ["acos", Math.acos],
  ["asin", Math.asin],
  ["atan", Math.atan],
  ["ceil", Math.ceil],
  ["cos", Math.cos],
  ["exp", Math.exp],
  ["floor", Math.floor],
  ["ln", Math.log],
  ["log", Math.log10],
  ["log10", Math.log10],
  ["log2", Math.log2],
  ["max", Math.max],
  ["min", Math.min],
  ["pow", (base, exponent) => base ** exponent],
  ["round", Math.round],
  ["sin", Math.sin],
  ["sqrt", Math.sqrt],
  ["tan", Math.tan],
]);
const OTHER_SPELLINGS = new Map([
  ["**", "^"],
  ["×", "*"],
  ["·", "*"],
  ["÷", "/"],
  [":", "/"],
  ["−", "-"],
  ["–", "-"],
]);
const TOKEN = /\s*(?:(\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([a-zA-Zπ]\w*)|(\*\*|[-+*/%^!(),×·÷:−–]))/y;

/** The value of an expression. Throws an Error that says what is wrong with it. */
export function calculated(expression) {
  if (typeof expression !== "string" || !expression.trim()) throw new Error("there is no expression");
  if (expression.length > LONGEST) throw new Error(`the expression has more than ${LONGEST} characters`);
  const parser = new Parser(tokens(expression));
  const value = parser.sum(0);
  parser.end();
  if (Number.isNaN(value)) throw new Error("this has no value among the real numbers");
  if (!Number.isFinite(value)) throw new Error("this is too large, or divides by zero");
  return Number(value.toPrecision(DIGITS));
}

function tokens(expression) {
  const found = [];
  TOKEN.lastIndex = 0;
  const text = expression.trimEnd();
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`"${text.slice(at).trim().slice(0, 20)}" can't be read`);
    const [, number, name, sign] = match;
    if (number !== undefined) found.push({ number: Number(number.replaceAll("_", "")) });
    else if (name === "x" || name === "X") found.push({ sign: "*" });
    else if (name !== undefined) found.push({ name: name.toLowerCase() });
    else found.push({ sign: OTHER_SPELLINGS.get(sign) ?? sign });
  }
  return found;
}

class Parser {
  #tokens;
  #at = 0;

  constructor(found) {
    this.#tokens = found;
  }

  sum(depth) {
    let value = this.#product(depth);
    for (;;) {
      if (this.#takes("+")) value += this.#product(depth);
      else if (this.#takes("-")) value -= this.#product(depth);
      else return value;
    }
  }

  end() {
    if (this.#at < this.#tokens.length) throw new Error(`${this.#here()} wasn't expected`);
  }

  #product(depth) {
    let value = this.#sign(depth);
    for (;;) {
      if (this.#takes("*")) value *= this.#sign(depth);
      else if (this.#takes("/")) value /= this.#sign(depth);
      else if (this.#takes("%")) value %= this.#sign(depth);
      else return value;
    }
  }

  #sign(depth) {
    if (depth > DEEPEST) throw new Error("the expression is nested too deep");
    if (this.#takes("+")) return this.#sign(depth + 1);
    if (this.#takes("-")) return -this.#sign(depth + 1);
    return this.#power(depth);
  }

  #power(depth) {
    const base = this.#factorial(depth);
    return this.#takes("^") ? base ** this.#sign(depth + 1) : base;
  }

  #factorial(depth) {
    let value = this.#atom(depth);
    while (this.#takes("!")) value = factorial(value);
    return value;
  }

  #atom(depth) {
    const token = this.#tokens[this.#at];
    if (token?.number !== undefined) {
      this.#at += 1;
      return token.number;
    }
    if (token?.name !== undefined) {
      this.#at += 1;
      return this.#named(token.name, depth);
    }
    if (this.#takes("(")) {
      const value = this.sum(depth + 1);
      this.#needs(")");
      return value;
    }
    throw new Error(`${this.#here()} stands where a number should`);
  }

  #named(name, depth) {
    if (CONSTANTS.has(name)) return CONSTANTS.get(name);
    const known = FUNCTIONS.get(name);
    if (!known) throw new Error(`"${name.slice(0, 20)}" isn't known`);
    this.#needs("(");
    const values = [this.sum(depth + 1)];
    while (this.#takes(",")) values.push(this.sum(depth + 1));
    this.#needs(")");
    if (known.length === 1 && values.length !== 1) throw new Error(`${name} takes one number`);
    if (name === "pow" && values.length !== 2) throw new Error("pow takes two numbers");
    return known(...values);
  }

  #takes(sign) {
    if (this.#tokens[this.#at]?.sign !== sign) return false;
    this.#at += 1;
    return true;
  }

  #needs(sign) {
    if (!this.#takes(sign)) throw new Error(`${this.#here()} stands where "${sign}" should`);
  }

  #here() {
    const token = this.#tokens[this.#at];
    return token ? `"${token.sign ?? token.name ?? token.number}"` : "the end";
  }
}

function factorial(value) {
  if (!Number.isInteger(value) || value < 0) throw new Error("only whole numbers from 0 have a factorial");
  if (value > LARGEST_FACTORIAL) return Infinity;
  let product = 1;
  for (let factor = 2; factor <= value; factor += 1) product *= factor;
  return product;
}
