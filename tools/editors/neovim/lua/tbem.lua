-- `require('tbem').setup()` starts `tbemc lsp` for each tbem buffer: with Neovim's own list of servers where it has one
-- (0.11 and later), otherwise by hand. `setup({ cmd = { '/path/to/tbemc', 'lsp' } })` names the program.
local M = {}

local function root_of(buffer)
  local file = vim.api.nvim_buf_get_name(buffer)
  local folder = file ~= '' and vim.fn.fnamemodify(file, ':p:h') or vim.fn.getcwd()
  local marker = vim.fn.finddir('.git', folder .. ';')
  return marker ~= '' and vim.fn.fnamemodify(marker, ':p:h:h') or folder
end

function M.setup(options)
  local cmd = (options or {}).cmd or { 'tbemc', 'lsp' }
  if vim.lsp.enable then
    vim.lsp.config('tbemc', { cmd = cmd }) -- the rest is lsp/tbemc.lua's
    vim.lsp.enable('tbemc')
    return
  end
  local clients = {} -- by root: one server for all programs of a folder
  local function attach(buffer)
    local root = root_of(buffer)
    local running = clients[root]
    if not (running and vim.lsp.get_client_by_id(running)) then
      running = vim.lsp.start_client({ name = 'tbemc', cmd = cmd, root_dir = root })
      clients[root] = running
    end
    if running then
      vim.lsp.buf_attach_client(buffer, running)
    end
  end
  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('tbemc', { clear = true }),
    pattern = 'tbem',
    callback = function(event)
      attach(event.buf)
    end,
  })
end

return M
