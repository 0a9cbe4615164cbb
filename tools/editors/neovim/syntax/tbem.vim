" Syntax of tbem. Made by tools/editors/generate from grammar/keywords.txt and the compiler's tables.
if exists('b:current_syntax')
  finish
endif
syntax case match
syntax sync fromstart
syntax match tbemFunction /\v<\h\w*\ze\(/
syntax match tbemBuiltin /\v<%(len|sum|product|min|max|abs|floor|ceil|round|pow|sqrt|exp|log|sin|cos|tanh|str|bound|shape|map|zip|reverse|replace|drop|keep|broadcast|broadcast_axes|hd|tl|elems|inds|conc|card|union|inter|diff|inset|rsqrt|erf|minimum|maximum|random|coordinate)\ze\(/
syntax match tbemParameter /\v<\h\w*\ze\s*:/
syntax match tbemType /\v%(:\s*|<of )@<=%(int|real|bool|string|pair|pads|axes|dtype|network|block|operator|tensor|schedule|nat|nat0|char|f64|f32|f16|bf16|f8e4m3|f8e5m2|i64|i32|i8|u8)>[(.]@!/
syntax match tbemType /\v<%(list|seq|set)\ze\s+of>/
syntax match tbemType /\v<%(f64|f32|f16|bf16|f8e4m3|f8e5m2|i64|i32|i8|u8|bool)>%(\s*[:(.])@!/
syntax match tbemConnector /\v%([A-Za-z0-9_)\]}">]\s+)@<=%(of|on|at|into|from|over|by|step|as|init|after|before|under|rem|inset|notin)>/
syntax match tbemName /\v%(<%(and|or|not|div|cdiv|mod|if|then|else|for|in|let|var|return|forall|exists|skip|exit|when|leaving|tbem|private|import|operator|block|network|function|process|design|measure|regress|predict|fit|dataset|train|perturb|assume|mutate)\s+|[-=<>+*|~]\s*)@<=%(of|on|at|into|from|over|by|step|as|init|after|before|under|rem|inset|notin)>/
syntax match tbemNumber /\v<\d[0-9_]*%(\.\d[0-9_]*)?%([eE][+-]?\d[0-9_]*)?%(\s*%(B|KB|KiB|MB|MiB|GB|GiB|TB|TiB|ns|us|ms|s|min|h|mJ|J|kJ|Wh|W|FLOP|kFLOP|MFLOP|GFLOP|TFLOP|PFLOP|Hz|kHz|MHz|GHz)>)?/
syntax match tbemFactor /\v<\d[0-9_]*%(\.\d[0-9_]*)?%([eE][+-]?\d[0-9_]*)?%(\s+%(B|KB|KiB|MB|MiB|GB|GiB|TB|TiB|ns|us|ms|s|min|h|mJ|J|kJ|Wh|W|FLOP|kFLOP|MFLOP|GFLOP|TFLOP|PFLOP|Hz|kHz|MHz|GHz)>)?/ contained
syntax match tbemEnumerator /\v\<\h\w*\>/
syntax keyword tbemControl if then else for return skip exit when leaving
syntax keyword tbemVariable let var
syntax keyword tbemBoolean true false
syntax keyword tbemWord and or not div cdiv mod in forall exists
syntax match tbemDeclaration /\v%(%(^|[;{]|\*\/)\s*)@<=%(private\s+)?%(tbem|private|import|operator|block|network|function|process|design|measure|regress|predict|fit|dataset|train|perturb|assume|mutate)\ze\s+\w/ contains=tbemModifier
syntax keyword tbemModifier private contained
syntax match tbemClause /\v%(%(^|[;{]|\*\/)\s*)@<=%(end_process|pre|post|requires|elementwise|native|flops|workspace|backward|updates|fallback|ext)>%(\s*%(\=[=>]@!|:|\.\.@!)|\[)@!/
syntax match tbemWeight /\v%(%(^|[;{]|\*\/)\s*)@<=%(weight|buffer)>%(\s*%(\=[=>]@!|:|\.\.@!)|\[)@!/
syntax match tbemInside /\v%(%(^|[;{]|\*\/)\s*)@<=%(factor|input|assert)>%(\s*%(\=[=>]@!|:|\.\.@!)|\[)@!/ contained
syntax match tbemSetting /\v%(%(^|[;{]|\*\/)\s*)@<=%(task|strength|covering|within|rows|array|seed|dtype|math|accumulate|mixed|checkpoint|where|full|filter|budget|freeze|optimizer|repeat|insert|drop|swap|widen|response|terms|validate|on|weights|metric|tune|warmup|steps|threads|order|examples|attack|timeout|epochs|batch|loss|patience|schedule|augment|backend|every|resume|gates|exits|harden|turn|norm|by|keep|box|certify|detect|squeeze)>%(\s*%(\=[=>]@!|:|\.\.@!)|\[)@!/ contained
syntax match tbemModifier /\v%(<ext\s+|,\s*|^\s*)@<=%(rd|wr)\ze\s+\h/ contained
syntax region tbemRound start=/(/ end=/)/ transparent contains=tbemComment,tbemDocumentation,tbemString,tbemEnumerator,tbemNumber,tbemWord,tbemControl,tbemVariable,tbemBoolean,tbemConnector,tbemName,tbemType,tbemFunction,tbemBuiltin,tbemParameter,tbemRound,tbemSquare
syntax region tbemSquare start=/\[/ end=/\]/ transparent contains=tbemComment,tbemDocumentation,tbemString,tbemEnumerator,tbemNumber,tbemWord,tbemControl,tbemVariable,tbemBoolean,tbemConnector,tbemName,tbemType,tbemFunction,tbemBuiltin,tbemParameter,tbemRound,tbemSquare
syntax region tbemBody start=/{/ end=/}/ transparent fold contains=tbemComment,tbemDocumentation,tbemString,tbemEnumerator,tbemNumber,tbemWord,tbemControl,tbemVariable,tbemBoolean,tbemConnector,tbemName,tbemType,tbemFunction,tbemBuiltin,tbemParameter,tbemRound,tbemSquare,tbemBody,tbemInside,tbemSetting,tbemWeight
syntax region tbemProcess start=/\v^\s*%(private\s+)?process\s+\h/ end=/\v<end_process>/ transparent fold keepend contains=tbemComment,tbemDocumentation,tbemString,tbemEnumerator,tbemWord,tbemControl,tbemVariable,tbemBoolean,tbemConnector,tbemName,tbemType,tbemFunction,tbemBuiltin,tbemParameter,tbemRound,tbemSquare,tbemFactor,tbemDeclaration,tbemClause,tbemFreeText,tbemModifier
syntax region tbemFreeText matchgroup=tbemClause start=/\v%(^|;)\s*\zscomment>/ matchgroup=NONE end=/\v^\ze\s*%(ext|pre|post|end_process)>/ end=/\v\ze;\s*end_process>/ contained
syntax match tbemEscape /\\./ contained
syntax region tbemString start=/"/ skip=/\\./ end=/"/ oneline contains=tbemEscape
syntax match tbemComment /\v\/\/.*$/
syntax match tbemDocumentation /\v\/\/\/.*$/
syntax region tbemComment start=/\/\*/ end=/\*\//
highlight default link tbemComment Comment
highlight default link tbemFreeText Comment
highlight default link tbemDocumentation SpecialComment
highlight default link tbemString String
highlight default link tbemEscape SpecialChar
highlight default link tbemNumber Number
highlight default link tbemFactor Number
highlight default link tbemEnumerator Constant
highlight default link tbemBoolean Boolean
highlight default link tbemControl Statement
highlight default link tbemClause Statement
highlight default link tbemInside Statement
highlight default link tbemSetting Statement
highlight default link tbemConnector Statement
highlight default link tbemWord Operator
highlight default link tbemVariable StorageClass
highlight default link tbemWeight StorageClass
highlight default link tbemModifier StorageClass
highlight default link tbemDeclaration Structure
highlight default link tbemFunction Function
highlight default link tbemBuiltin Function
highlight default link tbemType Type
highlight default link tbemParameter Identifier
let b:current_syntax = 'tbem'
