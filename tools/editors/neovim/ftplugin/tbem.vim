" How tbem is written: comments, two columns of indentation, lines of 120 columns as `tbemc fmt` lays them out.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal comments=s1:/*,mb:*,ex:*/,:///,://
setlocal commentstring=//\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal expandtab shiftwidth=2 softtabstop=2 textwidth=120
setlocal suffixesadd=.tbem
if exists('loaded_matchit')
  let b:match_words = '\<process\>:\<end_process\>'
endif
let b:undo_ftplugin = 'setlocal comments< commentstring< formatoptions< expandtab< shiftwidth< softtabstop< textwidth< '
      \ . 'suffixesadd< | unlet! b:match_words'
