-- What a person does in Neovim with a diagram: a mistake is shown and mended by its quick fix, a hint by its edit, and
-- hover, definition, signature help, completion and formatting answer. Run by neovim.sh.
local program, source, folder = vim.env.PROGRAM, vim.env.SOURCE, vim.env.FOLDER
local patience = 30000

local function main()
  local lines = vim.fn.readfile(source .. "/examples/attention.nap")
  local row
  for i, line in ipairs(lines) do
    if line:find("^P: f16") then
      lines[i] = line:gsub("P: f16", "P"):gsub("softmax", "sofmax")
      row = i - 1
    end
  end
  local path = folder .. "/attention.nap"
  vim.fn.writefile(lines, path)
  vim.cmd("edit " .. path)
  local buffer = vim.api.nvim_get_current_buf()

  local client = vim.lsp.start_client({ name = "napkin", cmd = { program, "lsp" }, root_dir = folder })
  assert(client and vim.lsp.buf_attach_client(buffer, client), "the server does not start")

  local function told(severity)
    return vim.diagnostic.get(buffer, { severity = severity })
  end
  local function wait(what, holds)
    assert(vim.wait(patience, holds, 20), "no answer in time: " .. what)
  end
  local function ask(method, params)
    params.textDocument = { uri = vim.uri_from_bufnr(buffer) }
    local answers = assert(vim.lsp.buf_request_sync(buffer, method, params, patience), method)
    local answer = assert(answers[client], method)
    assert(not answer.err, vim.inspect(answer.err))
    return answer.result
  end
  local function at(line, character)
    return { line = line, character = character }
  end
  local function apply(diagnostic, title)
    local place = { start = at(diagnostic.lnum, diagnostic.col), ["end"] = at(diagnostic.end_lnum, diagnostic.end_col) }
    local actions = ask("textDocument/codeAction", { range = place, context = { diagnostics = {} } })
    assert(#actions == 1 and actions[1].title == title, vim.inspect(actions))
    vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  end

  local errors = vim.diagnostic.severity.ERROR
  local hints = vim.diagnostic.severity.HINT
  wait("the mistake", function() return #told(errors) == 1 end)
  assert(told(errors)[1].code == "E0206", vim.inspect(told(errors)))
  apply(told(errors)[1], "write `softmax`")
  wait("the hint", function() return #told(errors) == 0 and #told(hints) == 1 end)
  assert(told(hints)[1].message:find("O = P*V runs without matrix units", 1, true), vim.inspect(told(hints)))
  apply(told(hints)[1], "write P: f16")
  wait("a file without hints", function() return #told(errors) == 0 and #told(hints) == 0 end)
  local mended = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1]
  assert(mended:find("^P: f16%[q, x%] = softmax"), mended)

  local column = mended:find("softmax") - 1
  assert(ask("textDocument/hover", { position = at(row, 0) }).contents.value:find("shape 4096 x 4096"))
  assert(ask("textDocument/definition", { position = at(row + 1, 20) }).range)
  local called = ask("textDocument/signatureHelp", { position = at(row, column + #"softmax[x](") })
  assert(called.signatures[1].label == "softmax[a](s)" and called.activeParameter == 1, vim.inspect(called))
  local offered = ask("textDocument/completion", { position = at(row, column) })
  assert(#offered > 20, vim.inspect(offered))
  vim.api.nvim_buf_set_lines(buffer, row, row + 1, false, { (mended:gsub(" = ", "   =  ")) })
  wait("the change", function()
    local edits = ask("textDocument/formatting", { options = { tabSize = 2, insertSpaces = true } })
    return edits and #edits == 1
  end)

  vim.lsp.stop_client(client)
  local version = vim.version()
  print(string.format("Neovim %d.%d.%d mends, explains and formats a diagram\n", version.major, version.minor, version.patch))
end

local good, problem = pcall(main)
if not good then
  io.stderr:write(tostring(problem) .. "\n")
  vim.cmd("cquit 1")
end
vim.cmd("qall!")
