;;; tbem-words.el --- the words of tbem  -*- lexical-binding: t -*-

;;; Commentary:

;; Made by tools/editors/generate from grammar/keywords.txt and the compiler's tables.

;;; Code:

(defconst tbem-words-reserved
  '("and" "or" "not" "div" "cdiv" "mod" "if" "then" "else" "for" "in" "let" "var" "return" "true"
    "false" "forall" "exists" "skip" "exit" "when" "leaving")
  "Words that stand for themselves everywhere.")

(defconst tbem-words-constants
  '("true" "false")
  "Those of them that are values.")

(defconst tbem-words-declarations
  '("tbem" "private" "import" "operator" "block" "network" "function" "process" "design" "measure"
    "regress" "predict" "fit" "dataset" "train" "perturb" "assume" "mutate")
  "Words that begin a declaration, outside all braces.")

(defconst tbem-words-headers
  '("end_process" "pre" "post" "requires" "elementwise" "native" "flops" "workspace" "backward"
    "updates" "fallback" "ext" "comment")
  "Words that begin a clause of a header, outside all braces.")

(defconst tbem-words-bodies
  '("factor" "input" "assert")
  "Words that begin a clause inside braces.")

(defconst tbem-words-anywhere
  '("weight" "buffer")
  "Words that begin a clause inside and outside braces.")

(defconst tbem-words-connectors
  '("of" "on" "at" "into" "from" "over" "by" "step" "as" "init" "after" "before" "under" "rem"
    "inset" "notin")
  "Words right after an operand.")

(defconst tbem-words-units
  '("B" "KB" "KiB" "MB" "MiB" "GB" "GiB" "TB" "TiB" "ns" "us" "ms" "s" "min" "h" "mJ" "J" "kJ" "Wh"
    "W" "FLOP" "kFLOP" "MFLOP" "GFLOP" "TFLOP" "PFLOP" "Hz" "kHz" "MHz" "GHz")
  "Words after a number.")

(defconst tbem-words-settings
  '("task" "strength" "covering" "within" "rows" "array" "seed" "dtype" "math" "accumulate" "mixed"
    "checkpoint" "where" "full" "filter" "budget" "freeze" "optimizer" "repeat" "insert" "drop"
    "swap" "widen" "response" "terms" "validate" "on" "weights" "metric" "tune" "warmup" "steps"
    "threads" "order" "examples" "attack" "timeout" "epochs" "batch" "loss" "patience" "schedule"
    "augment" "backend" "every" "resume" "gates" "exits" "harden" "turn" "norm" "by" "keep" "box"
    "certify" "detect" "squeeze")
  "Words that begin a clause of an experiment or a training.")

(defconst tbem-words-callables
  '("operator" "block" "network" "function" "dataset")
  "Declarations that can be applied.")

(defconst tbem-words-experiments
  '("design" "measure" "regress" "train" "mutate" "perturb")
  "Declarations whose bodies consist of settings.")

(defconst tbem-words-types
  '("int" "real" "bool" "string" "pair" "pads" "axes" "dtype" "network" "block" "operator" "tensor"
    "schedule" "nat" "nat0" "char" "f64" "f32" "f16" "bf16" "f8e4m3" "f8e5m2" "i64" "i32" "i8" "u8")
  "Types of parameters.")

(defconst tbem-words-collections
  '("list" "seq" "set")
  "Types before `of'.")

(defconst tbem-words-functions
  '("len" "sum" "product" "min" "max" "abs" "floor" "ceil" "round" "pow" "sqrt" "exp" "log" "sin"
    "cos" "tanh" "str" "bound" "shape" "map" "zip" "reverse" "replace" "drop" "keep" "broadcast"
    "broadcast_axes" "hd" "tl" "elems" "inds" "conc" "card" "union" "inter" "diff" "inset" "rsqrt"
    "erf" "minimum" "maximum" "random" "coordinate")
  "The language's own functions.")

(provide 'tbem-words)
;;; tbem-words.el ends here
