// `napkin draw`: a diagram as a picture.
#include "cli/commands.hpp"
#include "cli/plans.hpp"
#include "napkin/pictures.hpp"

namespace napkin::cli {

int run_draw(Session& session) {
  const auto input = read_input(session);
  if (!input) return finish(session);
  const auto scene = lay_out(input->diagram);
  return deliver(session, session.options.output.ends_with(".svg") ? emit_svg(scene) : emit_text_drawing(scene));
}

}  // namespace napkin::cli
