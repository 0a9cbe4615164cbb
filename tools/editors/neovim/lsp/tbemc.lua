-- Neovim 0.11 and later read this file for `vim.lsp.enable('tbemc')`. Settings of one's own go over it:
-- `vim.lsp.config('tbemc', { cmd = { '/path/to/tbemc', 'lsp' } })`.
return {
  cmd = { 'tbemc', 'lsp' },
  filetypes = { 'tbem' },
  root_markers = { '.git' },
}
