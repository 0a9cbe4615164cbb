// Words, numbers, marks. Every soft word (`factor`, `pre`, `of` ...) comes out as ID: the layout pass (compiler/syntax/layout/Layout.cpp)
// gives it the type of a word where it stands as one, makes END from newlines and `;`, tells the two braces apart, and renames slips.
lexer grammar TbemLexer;

tokens {
  END, UNIT, LCURLY, RCURLY, TIMES, FREE_TEXT,
  TBEM, PRIVATE, IMPORT, OPERATOR, BLOCK, NETWORK, FUNCTION, PROCESS, END_PROCESS, DESIGN, MEASURE, REGRESS, PREDICT, FIT,
  DATASET, TRAIN, PERTURB, ASSUME, MUTATE,
  PRE, POST, REQUIRES, WEIGHT, BUFFER, ELEMENTWISE, NATIVE, FLOPS, WORKSPACE, BACKWARD, UPDATES, FALLBACK, EXT, REMARK, FACTOR, INPUT,
  ASSERT,
  OF, ON, AT, INTO, FROM, OVER, BY, STEP, AS, INIT, AFTER, BEFORE, UNDER, REM, INSET, NOTIN
}

AND : 'and';
OR : 'or';
NOT : 'not';
DIV : 'div';
CDIV : 'cdiv';
MOD : 'mod';
IF : 'if';
THEN : 'then';
ELSE : 'else';
FOR : 'for';
IN : 'in';
LET : 'let';
VAR : 'var';
RETURN : 'return';
TRUE_ : 'true';
FALSE_ : 'false';
FORALL : 'forall';
EXISTS : 'exists';
SKIP_ : 'skip';
EXIT : 'exit';
WHEN : 'when';
LEAVING : 'leaving';

ID : [A-Za-z_] [A-Za-z0-9_]*;
NUMBER : DIGITS ('.' DIGITS)? ([eE] [+-]? DIGITS)?;
fragment DIGITS : [0-9] [0-9_]*;
STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"';

LPAREN : '(';
RPAREN : ')';
LBRACK : '[';
RBRACK : ']';
LBRACE : '{';
RBRACE : '}';
COMMA : ',';
SEMI : ';';
COLON : ':';
ARROW : '->';
ELLIPSIS : '...';
RANGE_EQ : '..=';
RANGE : '..';
DOT : '.';
PIPE : '|>';
BAR : '|';
TILDE : '~';
IFF : '<=>';
IMPLIES : '=>';
EQ : '=';
NE : '<>';
LE : '<=';
GE : '>=';
LT : '<';
GT : '>';
POW : '**';
PLUS : '+';
MINUS : '-';
STAR : '*';
SLASH : '/';

// A member of an enumeration: `<north>`. `at=<north>` is an equation: the layout pass takes the mark off (without the rule it would
// be the slip `=<`).
ENUMERATOR : '<' [A-Za-z_] [A-Za-z0-9_]* '>';
EQ_ENUMERATOR : '=<' [A-Za-z_] [A-Za-z0-9_]* '>';

// What other languages write: the layout pass says what it is called here.
SLIP : '==' | '!=' | '&&' | '||' | '%' | '^' | '+=' | '-=' | '*=' | '/=' | '!' | '&' | '++' | '--' | ':=' | '=<' ;
SLIP_STRING : '\'' ~['\r\n]* '\'';
OPEN_STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '\\'?;
HASH : '#' ~[\r\n]*;

NEWLINE : '\r'? '\n' | '\r';
SPACE : [ \t\f]+ -> skip;
COMMENT : '//' ~[\r\n]* -> channel(HIDDEN);
BLOCK_COMMENT : '/*' .*? '*/' -> channel(HIDDEN);
OPEN_COMMENT : '/*' (~[*] | '*' ~[/])* '*'?;
BAD_BYTES : [\u0080-\u00FF]+;
BAD : .;
