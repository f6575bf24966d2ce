// CLI11's tree -> completion scripts. All three shells get the same list: for every command its words and options, for
// every option its choices.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <functional>

#include "cli/commands.hpp"

namespace napkin::cli {
namespace {

struct Choice {
  std::string option;  // "--format"
  std::string values;  // "text json markdown", or empty
};
struct Words {
  std::string path;     // "emit cuda", empty for the program
  std::string summary;
  std::string words;    // commands and options
  std::vector<Choice> options;
  std::vector<std::pair<std::string, std::string>> commands, described;  // name, summary
  std::string argument;                                                   // "FILE", "[NAME]", ...
};

void collect(const CLI::App& app, const std::string& path, std::vector<Words>& all) {
  Words words{path, app.get_description(), "", {}, {}, {}, ""};
  const auto add = [&](const std::string& word) { words.words += (words.words.empty() ? "" : " ") + word; };
  for (const auto* command : app.get_subcommands({})) {
    add(command->get_name());
    words.commands.emplace_back(command->get_name(), command->get_description());
  }
  for (const auto* option : app.get_options()) {
    if (option->get_positional()) {
      words.argument = option->get_type_name();
      continue;
    }
    const auto name = "--" + option->get_lnames().front();
    add(name);
    words.described.emplace_back(name, option->get_description());
    if (option->get_items_expected_max() > 0) words.options.push_back({name, std::string(choices(*option))});
  }
  all.push_back(words);
  for (const auto* command : app.get_subcommands({})) {
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), all);
  }
}

// The shell command that lists what an option or argument can be; empty: files.
std::string source(const std::string& name) {
  if (name == "--target" || name == "[NAME]") return "napkin targets --quiet 2>/dev/null";
  if (name == "[CODE]") return "napkin explain 2>/dev/null | cut -d' ' -f1";
  if (name == "bash|zsh|fish") return "echo bash zsh fish";
  return "";
}

std::string words_of(const Choice& choice) {
  const auto list = source(choice.option);
  return choice.values.empty() ? (list.empty() ? "" : "$(" + list + ")") : choice.values;
}

constexpr std::string_view bash_head = R"(# bash completion of napkin
_napkin() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= i words= first
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${COMP_WORDS[i]}" in
)";

std::string bash(const std::vector<Words>& all) {
  std::string text(bash_head);
  for (const auto& words : all) {
    if (!words.path.empty()) text += fmt::format("      ' {0}') path=' {0}' ;;\n", words.path);
  }
  text += "    esac\n  done\n  case \"$path $before\" in\n";
  for (const auto& words : all) {
    for (const auto& option : words.options) {
      const auto path = words.path.empty() ? "" : " " + words.path;
      const auto list = words_of(option);
      text += fmt::format("    '{} {}') {} ;;\n", path, option.option,
                          list.empty() ? "COMPREPLY=($(compgen -f -- \"$word\")); return"
                                       : fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return", list));
    }
  }
  text += "  esac\n  case \"$path\" in\n";
  for (const auto& words : all) {
    const auto path = words.path.empty() ? "" : " " + words.path;
    const auto list = source(words.argument);
    text += fmt::format("    '{}') words='{}'{} ;;\n", path, words.words,
                        list.empty() ? "" : fmt::format("; first=\"$({})\"", list));
  }
  return text +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words $first\" -- \"$word\"))\n"
         "  [[ -n $path && -z $first && $word != -* ]] && COMPREPLY+=($(compgen -f -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _napkin napkin\n";
}

// Text inside single quotes of a shell; zsh's brackets and colons escaped besides.
std::string quoted(const std::string& text, std::string_view escaped = "") {
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

std::string zsh_action(const std::string& name, const std::string& values) {
  const auto list = source(name);
  if (!values.empty()) return "(" + values + ")";
  return list.empty() ? "_files" : "($(" + list + "))";
}

std::string zsh_function(const Words& words, const std::string& name) {
  std::string text = name + "() {\n  _arguments -C";
  for (const auto& [option, summary] : words.described) {
    const auto takes = std::find_if(words.options.begin(), words.options.end(),
                                    [&, n = option](const Choice& choice) { return choice.option == n; });
    text += fmt::format(" \\\n    '*{}{}[{}]", option, takes == words.options.end() ? "" : "=", quoted(summary, "[]:"));
    if (takes != words.options.end()) text += ":value:" + quoted(zsh_action(option, takes->values), "");
    text += "'";
  }
  if (words.commands.empty()) {
    return text + fmt::format(" \\\n    '*:argument:{}'\n}}\n", quoted(zsh_action(words.argument, "")));
  }
  text += " \\\n    '1:command:((";
  for (const auto& [command, summary] : words.commands) {
    text += fmt::format("{}\\:\"{}\" ", command, quoted(summary, ":\"`"));
  }
  return text + fmt::format("))' \\\n    '*::arguments:->next'\n  case $state in\n    next) {}_${{words[1]}} ;;\n  esac\n}}\n",
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

// The condition under which a line of a fish script holds: all words of the path have been seen, or none.
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

std::string fish(const std::vector<Words>& all) {
  std::string text = "# fish completion of napkin\n";
  for (const auto& words : all) {
    const auto head = fmt::format("complete -c napkin -n '{}'", fish_condition(words));
    for (const auto& [command, summary] : words.commands) {
      text += fmt::format("{} -f -a {} -d '{}'\n", head, command, quoted(summary));
    }
    for (const auto& [option, summary] : words.described) {
      text += fmt::format("{} -l {} -d '{}'", head, option.substr(2), quoted(summary));
      for (const auto& choice : words.options) {
        if (choice.option != option) continue;
        const auto list = choice.values.empty() ? source(option) : "";
        const auto values = !choice.values.empty() ? choice.values : list.empty() ? "" : "(" + list + ")";
        text += values.empty() ? " -r" : fmt::format(" -x -a '{}'", quoted(values));
      }
      text += "\n";
    }
    const auto list = source(words.argument);
    if (!list.empty()) text += fmt::format("{} -f -a '({})'\n", head, quoted(list));
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
