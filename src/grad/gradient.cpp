// Resolves the requested names, then walks the statements in reverse; each one adds to the gradients of the arrays that
// it reads.
#include <fmt/format.h>

#include <algorithm>

#include "diagram/assume.hpp"
#include "grad/backward.hpp"
#include "grad/expression.hpp"
#include "grad/reverse.hpp"
#include "napkin/grad.hpp"

namespace napkin {
namespace {

using namespace grad;

class Differentiation {
 public:
  Differentiation(const Sources& sources, const ast::File& file, const Diagram& diagram, const Wanted& wanted,
                  Diagnostics& diagnostics)
      : sources_(sources), file_(file), read_(diagram), wanted_(wanted), diagnostics_(diagnostics), all_(diagram) {}

  std::optional<Gradient> run(const std::string& command) {
    take_names();
    find_results();
    if (!diagnostics_.has_errors()) find_sources();
    if (diagnostics_.has_errors()) return std::nullopt;
    find_active();
    if (!depends()) return std::nullopt;
    for (const auto of : of_) seed(of);
    backward();
    save_all();
    if (diagnostics_.has_errors()) return std::nullopt;
    keep_logarithms(all_);
    set_apart(all_);
    set_types(all_, gradient_of_);
    auto text = write(sources_, file_, all_, heading(command), diagnostics_);
    if (diagnostics_.has_errors()) return std::nullopt;
    return Gradient{std::move(text), all_.steps};
  }

 private:
  void fail(std::string_view code, std::string message, const ast::Name& at, std::string help) {
    diagnostics_.add({.code = code, .message = std::move(message), .span = at.span, .help = std::move(help)});
  }

  void take_names() {
    for (const auto& axis : read_.axes) all_.names.insert(axis.name);
    for (const auto& array : read_.arrays) all_.names.insert(array.name);
    for (const auto& declaration : file_.declarations)
      if (const auto* def = std::get_if<ast::Def>(&declaration.node)) all_.names.insert(def->name.text);
    for (const auto& name : wanted_.save) check_new(name);
    for (const auto& name : wanted_.save) all_.names.insert(name.text);
  }

  // A name for a saved array must be that of an array, or be a valid name for a new one.
  void check_new(const ast::Name& name) {
    if (std::ranges::find(read_.arrays, name.text, &Array::name) != read_.arrays.end()) return;
    const auto letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
    const bool well = letter(name.text[0]) && std::ranges::all_of(name.text, [&](char c) {
                        return letter(c) || (c >= '0' && c <= '9') || c == '_';
                      });
    if (well && all_.is_free(name.text)) return;
    fail("E0543", fmt::format("nothing can be saved as `{}`", name.text), name,
         well ? "the name has another meaning: choose a new one" : "names consist of letters, digits and `_`");
  }

  std::vector<std::string> array_names() const {
    std::vector<std::string> names;
    for (const auto& array : read_.arrays) names.push_back(array.name);
    return names;
  }
  std::optional<ArrayId> find(const ast::Name& name, std::string_view option) {
    const auto found = std::ranges::find(read_.arrays, name.text, &Array::name);
    if (found == read_.arrays.end()) {
      const auto near = did_you_mean(name.text, array_names());
      fail("E0540", fmt::format("`{}` names `{}`, which the diagram lacks", option, name.text), name,
           near.empty() ? fmt::format("it has {}", fmt::join(array_names(), ", ")) : near);
      return std::nullopt;
    }
    if (found->type == Datatype::boolean) {
      fail("E0542", fmt::format("conditions have no gradient, and `{}` holds conditions", name.text), name,
           fmt::format("leave it out of `{}`", option));
      return std::nullopt;
    }
    return ArrayId{static_cast<std::uint32_t>(found - read_.arrays.begin())};
  }
  bool is_input(ArrayId array) const { return std::ranges::find(read_.inputs, array) != read_.inputs.end(); }

  void find_results() {
    for (const auto& name : wanted_.of) {
      const auto found = find(name, "--of");
      if (found && is_input(*found)) {
        fail("E0540", fmt::format("`--of` names `{}`, which is an input", name.text), name,
             "name the result of a statement");
      } else if (found) {
        of_.push_back(*found);
      }
    }
    if (!wanted_.of.empty()) return;
    for (const auto output : read_.outputs)
      if (read_.at(output).type != Datatype::boolean) of_.push_back(output);
    if (of_.empty())
      fail("E0542", "conditions have no gradient, and every output holds conditions", file_.diagram,
           "name a statement that gives numbers with `--of`");
  }

  static bool has_fractions(Datatype type) {
    return type != Datatype::boolean && type != Datatype::i8 && type != Datatype::i32;
  }
  void find_sources() {
    for (const auto& name : wanted_.wrt)
      if (const auto found = find(name, "--wrt")) wrt_.push_back(*found);
    if (!wanted_.wrt.empty()) return;
    const auto reached = depends_on(of_);
    for (const auto input : read_.inputs)
      if (has_fractions(read_.at(input).type) && reached.contains(input)) wrt_.push_back(input);
  }

  // The given arrays and all arrays that they are computed from.
  std::set<ArrayId> depends_on(const std::vector<ArrayId>& arrays) const {
    std::set<ArrayId> all(arrays.begin(), arrays.end());
    for (auto at = read_.statements.rbegin(); at != read_.statements.rend(); ++at)
      if (all.contains(at->output))
        for (const auto array : arrays_read(read_, at->value)) all.insert(array);
    return all;
  }

  // Arrays through which a result depends on the arrays whose gradients are requested.
  void find_active() {
    const auto reached = depends_on(of_);
    active_.insert(wrt_.begin(), wrt_.end());
    for (const auto& statement : read_.statements) {
      const auto reads = arrays_read(read_, statement.value);
      const bool varies = std::ranges::any_of(reads, [&](ArrayId array) { return active_.contains(array); });
      if (varies && reached.contains(statement.output) && read_.at(statement.output).type != Datatype::boolean)
        active_.insert(statement.output);
    }
  }

  std::string names_of(const std::vector<ArrayId>& arrays) const {
    std::vector<std::string> names;
    for (const auto array : arrays) names.push_back(all_.diagram.at(array).name);
    return listed(std::move(names));
  }
  static std::string listed(std::vector<std::string> names) {
    if (names.size() < 2) return names.empty() ? "" : names[0];
    const auto last = names.back();
    names.pop_back();
    return fmt::format("{} and {}", fmt::join(names, ", "), last);
  }

  // Every requested gradient must be with respect to an array that a result depends on.
  bool depends() {
    const auto reached = depends_on(of_);
    if (wrt_.empty()) independent(wanted_.of.empty() ? file_.diagram : wanted_.of[0], "any input that has a gradient");
    for (std::size_t i = 0; i < wanted_.wrt.size() && i < wrt_.size(); ++i)
      if (!reached.contains(wrt_[i])) independent(wanted_.wrt[i], fmt::format("`{}`", wanted_.wrt[i].text));
    return !diagnostics_.has_errors();
  }
  void independent(const ast::Name& at, const std::string& what) {
    fail("E0541", fmt::format("{} {} not depend on {}", names_of(of_), of_.size() == 1 ? "does" : "do", what), at,
         "name an array that it is computed from, or another result with `--of`");
  }

  void seed(ArrayId of) {
    const auto array = all_.array(all_.unused("d" + all_.diagram.at(of).name), gradient_type(all_.diagram.at(of).type),
                                  std::vector<WireId>(all_.diagram.at(of).wires));
    all_.seeds.push_back(array);
    add(received_[of], Product{1, {{all_.algebra.read(array), 1}}});
  }

  void save_all() {
    for (const auto& name : wanted_.save) {
      if (save(all_, name.text)) continue;
      const bool known = std::ranges::find(read_.arrays, name.text, &Array::name) != read_.arrays.end();
      fail("E0543", fmt::format("there is nothing to save as `{}`", name.text), name,
           known ? "an input is there already: name the result of a statement"
                 : "name the result of a statement; a new name is for the logarithm of a sum of exponentials, and "
                   "none is left");
    }
    if (wanted_.save.empty()) return;
    for (const auto output : read_.outputs)
      if (all_.statement(output)) save(all_, read_.at(output).name);
  }

  void backward() {
    Reverse reverse{
        all_.algebra, active_,
        [this](const std::vector<WireId>& over, const Product& product) { return reassociated(all_, over, product); },
        [this](const std::string& name, const std::vector<WireId>& wires, const Sum& value) {
          const auto array = all_.array(name, Datatype::f32, wires);
          all_.made.push_back({array, expression(all_.algebra, value), nowhere});
          all_.between.insert(array);
          return array;
        }};
    const auto statements = all_.diagram.statements;
    for (auto at = statements.rbegin(); at != statements.rend(); ++at) {
      const auto found = received_.find(at->output);
      if (found == received_.end() || found->second.empty() || !active_.contains(at->output)) continue;
      const auto cotangent = gradient(at->output, Sum(found->second));

      reverse.through(*at, cotangent, received_);
    }
    measured_ = reverse.measured;
    for (const auto array : wrt_)
      if (!made_.contains(array)) statement(array, received_[array]);
    for (const auto array : wrt_) all_.results.push_back(made_.at(array));
  }

  // The gradient that an array received. It becomes a statement of its own unless it is a plain read of one array.
  Sum gradient(ArrayId array, const Sum& received) {
    const bool wanted = std::ranges::find(wrt_, array) != wrt_.end();
    if (!wanted && is_read(received)) return received;
    return {{1, {{all_.algebra.read(statement(array, received)), 1}}}};
  }
  bool is_read(const Sum& sum) const {
    if (sum.size() != 1 || sum[0].coefficient != 1 || sum[0].factors.size() != 1) return false;
    const auto [factor, exponent] = *sum[0].factors.begin();
    return exponent == 1 && std::holds_alternative<Access>(all_.diagram.at(factor).node);
  }
  ArrayId statement(ArrayId array, const Sum& received) {
    const auto made =
        all_.array(all_.unused("d" + all_.diagram.at(array).name), gradient_type(all_.diagram.at(array).type),
                   std::vector<WireId>(all_.diagram.at(array).wires));
    all_.made.push_back({made, expression(all_.algebra, received), nowhere});
    all_.values[made] = received;
    made_[array] = made;
    gradient_of_[made] = array;
    return made;
  }

  std::string heading(const std::string& command) const {
    std::vector<ArrayId> gradients = all_.results;
    auto text = fmt::format("The gradients of `{}`: {} {} with respect to {}, and {} {} with respect to {}.",
                            read_.name, names_of(all_.seeds),
                            all_.seeds.size() == 1 ? "is the gradient" : "are the gradients", names_of(of_),
                            names_of(gradients), gradients.size() == 1 ? "is that" : "are those", names_of(wrt_));
    for (const auto& step : all_.steps) text += fmt::format(" Found: {}.", step);
    // Indices of the file may contain sizes, as `size(x) - 1 - x` does; those of the gradient have numbers.
    for (const auto condition : assumptions(read_))
      for (const auto part : std::get<Apply>(read_.at(condition).node).arguments)
        if (const auto* size = std::get_if<Size>(&read_.at(part).node))
          text += fmt::format(" It holds for {0} = {1} alone, since an index has size({0}).", read_.at(size->axis).name,
                              *read_.at(size->axis).size);
    std::vector<std::string> sizes;
    for (const auto axis : measured_)
      if (axis.index < read_.axes.size())
        sizes.push_back(fmt::format("{} = {}", read_.at(axis).name, *read_.at(axis).size));
    if (!sizes.empty())
      text +=
          fmt::format(" It holds for {} alone, since at other sizes other places are read.", listed(std::move(sizes)));
    return text + fmt::format(" Made by `{}`.", command);
  }

  const Sources& sources_;
  const ast::File& file_;
  const Diagram& read_;
  const Wanted& wanted_;
  Diagnostics& diagnostics_;
  Backward all_;
  std::vector<ArrayId> of_, wrt_;
  std::set<ArrayId> active_;
  std::set<AxisId> measured_;
  std::map<ArrayId, Sum> received_;
  std::map<ArrayId, ArrayId> made_, gradient_of_;
};

}  // namespace

std::optional<Gradient> differentiate(const Sources& sources, const ast::File& file, const Diagram& diagram,
                                      const Wanted& wanted, const std::string& command, Diagnostics& diagnostics) {
  return Differentiation(sources, file, diagram, wanted, diagnostics).run(command);
}

}  // namespace napkin
