// `trnsci completion SHELL`: a script for the shell, which asks `trnsci completion words` for what may follow.
#include <fmt/core.h>

#include "commands.hpp"
#include "options.hpp"

namespace trn::tools {

namespace {

// Bash splits words at ':' and '=', so the words are taken from the line instead; what stands before the last of these
// characters is taken off the answers again.
constexpr const char* kBash = R"sh(# Completion of trnsci for bash: eval "$(trnsci completion bash)"
_trnsci() {
  local line="${COMP_LINE:0:COMP_POINT}" words typed kept
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  typed="${words[-1]}"
  mapfile -t COMPREPLY < <("${words[0]}" completion words "${words[@]:1}" 2>/dev/null)
  kept="${typed%"${typed##*[:=]}"}"
  if [[ -n "$kept" ]]; then COMPREPLY=("${COMPREPLY[@]#"$kept"}"); fi
}
complete -o default -F _trnsci trnsci
)sh";

constexpr const char* kZsh = R"sh(# Completion of trnsci for zsh: eval "$(trnsci completion zsh)"
_trnsci() {
  local -a found
  found=("${(@f)$("${words[1]}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _trnsci trnsci
)sh";

constexpr const char* kFish = R"sh(# Completion of trnsci for fish: trnsci completion fish | source
complete -c trnsci -a '(trnsci completion words (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
)sh";

}  // namespace

void add_completion(Command& program) {
  Command parent = program.add("completion", "a script that completes commands and options in a shell");
  parent.needs_one("shell");
  for (const auto& [name, script] : {std::pair{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}) {
    Command sub = parent.add(name, fmt::format("for {}; its first line says how to use it", name));
    sub.run([text = script] { fmt::print("{}", text); });
  }
}

}  // namespace trn::tools
