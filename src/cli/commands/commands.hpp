// The commands: each turns a session into a product and an exit code.
#pragma once

#include "cli/session.hpp"

namespace napkin::cli {

int run_analyze(Session&);
int run_plot(Session&, const Analysis&);  // of what `analyze` found
int run_derive(Session&);
int run_pseudocode(Session&);
int run_emit_cuda(Session&);
int run_emit_cpp(Session&);
int run_compare(Session&);
int run_draw(Session&);
int run_verify(Session&);
int run_grad(Session&);
int run_fmt(Session&);
int run_lsp(Session&);
int run_targets(Session&);
int run_explain(Session&);
int run_completion(Session&);
int run_man(Session&);

// Runs a command again and again, whenever a file that it read has changed. An interrupt ends it.
int watch(Session&, const Command&);

}  // namespace napkin::cli
