// What a shell may complete.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace trn::tools {

// What may follow: `words` are those after the program's name, the last one the part that was typed. Commands, options,
// and the values of an option that has a list of them; nothing where a file is meant.
[[nodiscard]] std::vector<std::string> completions(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace trn::tools
