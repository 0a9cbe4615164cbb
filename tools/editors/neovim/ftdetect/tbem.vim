autocmd BufRead,BufNewFile *.tbem setfiletype tbem
