// Tokens to tree, after the layout pass: soft words have the type of a word only where they stand as one, END ends a statement or
// a clause, LBRACE opens a body, LCURLY a record or a set. What a clause may say is for the builder, which knows where it stands.
parser grammar TbemParser;
options { tokenVocab = TbemLexer; superClass = ParserBase; }

@parser::preinclude {
#include "compiler/syntax/parse/ParserBase.h"
}

program : (TBEM NUMBER END)? top* EOF;
expression : expr END EOF;

// ---- Declarations ----
top : PRIVATE? declaration END | unknown END | END;
declaration
  : callable | function | process | importing | constant | mutate | design | measure | regress | predict | fit | dataset | train
  | perturb | assume
  ;

callable : kind=(OPERATOR | BLOCK | NETWORK | DATASET) ID LPAREN parameters? (SEMI parameters?)? RPAREN (ARROW results)? (END clause)* block?;
function : FUNCTION ID LPAREN parameters? (SEMI parameters?)? RPAREN ARROW type block;
process : PROCESS ID LPAREN ports? RPAREN ports? (END processClause)* END END_PROCESS;
ports : parameters (BAR parameters)*;
processClause : EXT external ((COMMA | END) external)* | PRE expr | POST expr | REMARK FREE_TEXT? | unknownClause;
external : access=ID ID (COMMA ID)* COLON type;
importing : IMPORT path (AS ID | COLON ID (COMMA ID)*)?;
path : ID (DOT ID)*;
constant : LET ID EQ expr;
mutate : MUTATE ID OF ID config;
design : DESIGN ID (OF value)? config;
measure : MEASURE ID config;
regress : REGRESS ID FROM (ID | STRING) config;
predict : PREDICT ID AT value;
fit : FIT ID (AT at=value)? OVER ID INTO into=value (ON on=value)?;
dataset : DATASET ID EQ expr;
train : TRAIN ID EQ value ON value config?;
perturb : PERTURB ID OF ID ON value config;
assume : ASSUME ID IN value;

parameters : parameterGroup (COMMA parameterGroup)*;
parameterGroup : ID (COMMA ID)* COLON type (IN value)? (EQ expr)?;
results : LPAREN result (COMMA result)* RPAREN | result;
result : (ID COLON)? type;
type : ID OF type | ID LBRACK items? RBRACK | ID | LCURLY ENUMERATOR (COMMA ENUMERATOR)* RCURLY;

clause
  : PRE expr | POST expr
  | REQUIRES expr (COMMA expr)*
  | weights
  | ELEMENTWISE ID EQ expr
  | NATIVE (STRING | postfix)
  | word=(FLOPS | BACKWARD | UPDATES) part ((COMMA | END) part)*
  | WORKSPACE expr
  | FALLBACK ID
  | unknownClause
  ;
part : ID COLON expr;
weights : word=(WEIGHT | BUFFER) weightPart (END weightPart)*;
weightPart : ID COLON type (INIT value)? (IF expr)?;

// The body of a design, a measurement, a training ...: a word and what it is given.
config : LBRACE END? (configClause END)* RBRACE;
configClause
  : FACTOR factorPart (END factorRest)*
  | INPUT inputPart (END inputPart)*
  | ID (argument (COMMA argument)*)? configTail*
  ;
factorPart : ID (COLON value (COMMA value)*)? (UNDER ID EQ value)?;
factorRest : ID COLON value (COMMA value)* (UNDER ID EQ value)?;
inputPart : ID COLON value (UNDER ID EQ value)?;
configTail : word=(AFTER | BEFORE) value | ON on=value | AS ID (COLON value (COMMA value)*)?;

// ---- Statements ----
block : LBRACE END? (statement END)* RBRACE;
statement
  : word=(LET | VAR) pattern EQ expr
  | pattern EQ expr
  | FOR ID IN value (AS ID)? block
  | ifStatement
  | RETURN expr
  | EXIT expr WHEN expr
  | ASSERT expr (COMMA expr)?
  | weights
  | unknown
  ;
pattern : ID | LPAREN ID (COMMA ID)* RPAREN;
ifStatement : IF expr block (ELSE (ifStatement | block))?;

// ---- Expressions, loosest first ----
expr
  : comparison
  | op=NOT expr
  | expr op=AND expr
  | expr op=OR expr
  | <assoc=right> expr op=IMPLIES expr
  | expr op=IFF expr
  | conditional
  | quantifier
  | skipping
  ;
conditional : IF expr THEN expr (ELSE expr)?;
quantifier : word=(FORALL | EXISTS) LBRACK binding (COMMA binding)* RBRACK BAR expr;
binding : ID COLON value;
skipping : SKIP_ value WHEN expr LEAVING value;
comparison : value (compare value)*;
compare : EQ | NE | LT | LE | GT | GE | IN | INSET | NOTIN;
value : pipe (op=(RANGE | RANGE_EQ) pipe (STEP sum)?)?;
pipe : sum (PIPE postfix pipeTail?)*;
pipeTail : op=(PLUS | MINUS | STAR | SLASH | DIV | CDIV | MOD | REM | POW) sum;
sum
  : postfix
  | <assoc=right> sum op=POW sum
  | sum op=TIMES sum
  | op=MINUS sum
  | sum op=(STAR | SLASH | DIV | CDIV | MOD | REM) sum
  | sum op=(PLUS | MINUS) sum
  ;
postfix : primary suffix*;
suffix : DOT ID | LPAREN arguments? RPAREN | LBRACK items RBRACK;
arguments : argument ((COMMA | SEMI) argument)* | SEMI argument (COMMA argument)*;
argument : ID COLON expr | expr | ELLIPSIS;
items : item (COMMA item)*;
item : RANGE sum | expr;
primary
  : NUMBER UNIT?
  | STRING
  | ENUMERATOR
  | TRUE_
  | FALSE_
  | ID
  | TILDE ID
  | LPAREN expr (COMMA expr)* RPAREN
  | LBRACK (item (forIn+ | (COMMA item)*))? RBRACK
  | LCURLY (entry (COMMA entry)*)? RCURLY
  ;
forIn : FOR ID IN value;
entry : (ID COLON)? expr;

// ---- Lines that begin with a word which begins nothing here ----
unknown : ID afterUnknown junk*;
unknownClause : ID afterUnknown inlineJunk*;
afterUnknown : ID | NUMBER | STRING | LPAREN | LBRACK | DOT;
inlineJunk : ~(END | LBRACE | RBRACE);
junk : ~(END | LBRACE | RBRACE) | LBRACE (junk | END)* RBRACE;
