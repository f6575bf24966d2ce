// Writes completion scripts from CLI11's tree. All three shells get the same list: for every command its words and
// options, for every option its choices.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/commands/commands.hpp"

namespace napkin::cli {
namespace {

// The possible values of an option or of a command's argument.
struct Values {
  std::string words;   // "text json markdown"
  std::string lister;  // a shell command that prints further ones
  bool files = false;
};
struct Flag {
  std::string name, summary;  // "--format"
  bool takes_value = false;
  Values values;
};
struct Words {
  std::string path;                                           // "emit cuda", empty for the program
  std::vector<std::pair<std::string, std::string>> commands;  // name, summary
  std::vector<Flag> flags;
  Values argument;
};

// The values that the type in the help text, "NAME|PATH", and the choices allow.
Values values_of(const std::string& type, std::string_view choices) {
  Values values;
  values.words = type == "bash|zsh|fish" ? "bash zsh fish" : std::string(choices);
  if (type.find("NAME|PATH") != std::string::npos || type == "[NAME]") values.lister = "napkin targets --quiet";
  if (type == "[CODE]") values.lister = "napkin explain --quiet";
  if (type == "[PAGE]") values.lister = "napkin man --quiet";
  for (const char* file : {"FILE", "DIR", "PATH"}) values.files |= type.find(file) != std::string::npos;
  values.files &= type.find('=') == std::string::npos;
  return values;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Words>& all) {
  Words words{path, {}, {}, {}};
  for (const auto* command : app.get_subcommands({})) {
    words.commands.emplace_back(command->get_name(), command->get_description());
  }
  for (const auto* option : app.get_options()) {
    const auto values = values_of(option->get_type_name(), choices(*option));
    if (option->get_positional()) {
      words.argument = values;
    } else {
      words.flags.push_back({"--" + option->get_lnames().front(), option->get_description(),
                             option->get_items_expected_max() > 0, values});
    }
  }
  all.push_back(words);
  for (const auto* command : app.get_subcommands({})) {
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), all);
  }
}

// Words as a list for shell expansion.
std::string expansion(const Values& values) {
  return values.lister.empty() ? values.words : fmt::format("$({} 2>/dev/null)", values.lister);
}

constexpr std::string_view bash_head = R"(# bash completion of napkin
_napkin() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= i words=
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${COMP_WORDS[i]}" in
)";

std::string bash_reply(const Values& values) {
  std::string text = fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", expansion(values));
  if (values.files) text += "; COMPREPLY+=($(compgen -f -- \"$word\"))";
  return text;
}

// One case of the script: the command's path and, if needed, the word before the cursor.
std::string bash_case(const Words& words, const std::string& before, const std::string& action) {
  const auto path = words.path.empty() ? "" : " " + words.path;
  return fmt::format("    '{}{}') {} ;;\n", path, before, action);
}

std::string bash_words(const Words& words) {
  std::vector<std::string> all;
  for (const auto& command : words.commands) all.push_back(command.first);
  for (const auto& flag : words.flags) all.push_back(flag.name);
  return fmt::format("words='{}'", fmt::join(all, " "));
}

std::string bash(const std::vector<Words>& all) {
  std::string text(bash_head);
  for (const auto& words : all) {
    if (!words.path.empty()) text += fmt::format("      ' {0}') path=' {0}' ;;\n", words.path);
  }
  text += "    esac\n  done\n  case \"$path $before\" in\n";
  for (const auto& words : all) {
    for (const auto& flag : words.flags) {
      if (flag.takes_value) text += bash_case(words, " " + flag.name, bash_reply(flag.values) + "; return");
    }
  }
  text += "  esac\n  case \"$path\" in\n";
  for (const auto& words : all) text += bash_case(words, "", bash_words(words) + "; " + bash_reply(words.argument));
  return text +
         "  esac\n"
         "  COMPREPLY+=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _napkin napkin\n";
}

// Text inside single quotes of a shell; for zsh, brackets and colons are escaped too.
std::string shell_quoted(const std::string& text, std::string_view escaped = "") {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (escaped.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string zsh_action(const Values& values) {
  if (values.words.empty() && values.lister.empty()) return values.files ? "_files" : "";
  const auto words = fmt::format("({})", expansion(values));
  return values.files ? fmt::format("_alternative \"words\\:word\\:{}\" \"files\\:file\\:_files\"", words) : words;
}

std::string zsh_flag(const Flag& flag) {
  auto text =
      fmt::format(" \\\n    '*{}{}[{}]", flag.name, flag.takes_value ? "=" : "", shell_quoted(flag.summary, "[]:"));
  if (flag.takes_value) text += ":value:" + shell_quoted(zsh_action(flag.values));
  return text + "'";
}

std::string zsh_function(const Words& words, const std::string& name) {
  std::string text = name + "() {\n  _arguments -C";
  for (const auto& flag : words.flags) text += zsh_flag(flag);
  if (words.commands.empty()) {
    return text + fmt::format(" \\\n    '*:argument:{}'\n}}\n", shell_quoted(zsh_action(words.argument)));
  }
  text += " \\\n    '1:command:((";
  for (const auto& [command, summary] : words.commands) {
    text += fmt::format("{}\\:\"{}\" ", command, shell_quoted(summary, ":\"`"));
  }
  return text +
         fmt::format("))' \\\n    '*::arguments:->next'\n  case $state in\n    next) {}_${{words[1]}} ;;\n  esac\n}}\n",
                     name);
}

std::string zsh(const std::vector<Words>& all) {
  std::string text = "#compdef napkin\n# zsh completion of napkin\n";
  for (const auto& words : all) {
    auto name = "_napkin" + (words.path.empty() ? "" : "_" + words.path);
    std::replace(name.begin(), name.end(), ' ', '_');
    text += zsh_function(words, name);
  }
  return text + "if [[ $funcstack[1] == _napkin ]]; then _napkin \"$@\"; else compdef _napkin napkin; fi\n";
}

// The condition for a line of a fish script: all words of the path are on the line, or none for the program itself.
std::string fish_condition(const Words& words) {
  if (words.path.empty()) return "__fish_use_subcommand";
  std::string condition;
  std::string path = words.path + " ";
  for (std::size_t at = 0, space; (space = path.find(' ', at)) != std::string::npos; at = space + 1) {
    condition += (condition.empty() ? "" : "; and ") +
                 fmt::format("__fish_seen_subcommand_from {}", path.substr(at, space - at));
  }
  return condition;
}

std::string fish_words(const Values& values) {
  if (!values.lister.empty()) return fmt::format(" -a '({} 2>/dev/null)'", values.lister);
  return values.words.empty() ? "" : fmt::format(" -a '{}'", values.words);
}

std::string fish(const std::vector<Words>& all) {
  std::string text = "# fish completion of napkin\n";
  for (const auto& words : all) {
    const auto head = fmt::format("complete -c napkin -n '{}'", fish_condition(words));
    for (const auto& [command, summary] : words.commands) {
      text += fmt::format("{} -f -a {} -d '{}'\n", head, command, shell_quoted(summary));
    }
    for (const auto& flag : words.flags) {
      text += fmt::format("{} -l {} -d '{}'", head, flag.name.substr(2), shell_quoted(flag.summary));
      if (flag.takes_value) text += (flag.values.files ? " -r" : " -x") + fish_words(flag.values);
      text += "\n";
    }
    const auto list = fish_words(words.argument);
    if (!list.empty()) text += fmt::format("{} -f{}\n", head, list);
  }
  return text;
}

}  // namespace

int run_completion(Session& session) {
  const std::pair<std::string, std::string (*)(const std::vector<Words>&)> shells[] = {
      {"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  CLI::App root;
  Options options;
  const Command* command = nullptr;
  declare(root, options, command);
  std::vector<Words> all;
  collect(root, "", all);
  const auto& wanted = session.options.arguments.front();
  for (const auto& [name, script] : shells) {
    if (name == wanted) return deliver(session, script(all));
  }
  complain(session, "E0523", fmt::format("there is no completion for `{}`", wanted), wanted, "one of bash, zsh, fish");
  return finish(session);
}

}  // namespace napkin::cli
