// Messages of the libraries in the words of the command line, see user_words.hpp. A message is "FUNCTION: what is
// wrong, the values, the limit; what to do"; the function and the advice are what differs.
#include "user_words.hpp"

#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "near_names.hpp"
#include "output.hpp"

namespace trn::tools {

namespace {

// Advice for callers, and what does the same here. Each is a whole piece of a message, so that no other text matches.
constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
    {", Precision Exact, or the host executor", ", --precision exact, or --exec host"},
    {"computes it in Native precision, not", "computes it in native precision, not"},
    {"the host computes in Native precision, not", "the host computes in native precision, not"},
    {"contractions take Precision Exact, or use the host executor",
     "contractions take --precision exact, or use --exec host"},
    {"; use Native, or the host executor", "; use --precision native, or --exec host"},
    {"; use Native or a device executor", "; use --precision native, or --exec sim:trn2"},
    {", or the host executor", ", or --exec host"},
    {"; ask for Mode::Exact, or use the host", "; use --precision exact, or --exec host"},
    {"; ask for Mode::Exact, or use float or the host", "; use --precision exact, --dtype fp32, or --exec host"},
    {"; use Precision Native, and solve() with a target_error for a better result",
     "; leave --precision out, and see solver.solve for a better result"},
    {"; use Threefry4x32_20 for others", "; use --generator threefry4x32-20 for others"},
    {"too large for uint32; draw into double", "too large for uint32; give a smaller one"},
    {"so p >= 1.1e-8: draw into double", "so p >= 1.1e-8: give a larger one"},
    {" for these types on executor", " for this --dtype on executor"},
};

void replace(std::string& text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

// "blas.gemm" of "blas.gemm: no kernel", else nothing.
std::string function_of(const std::string& message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string::npos) return "";
  for (std::size_t i = 0; i < colon; ++i) {
    const auto c = static_cast<unsigned char>(message[i]);
    if (std::isalnum(c) == 0 && c != '_' && c != '.') return "";
  }
  return message.substr(0, colon);
}

// The function that the libraries name becomes what the user named: another operation of the same library that the
// called one is made of, a reader of files, a constructor.
void name_command(std::string& message, const std::string& command) {
  const std::string function = function_of(message);
  if (function.empty()) return;
  const std::string last = command.substr(command.find_last_of(' ') + 1);
  const std::size_t dot = last.find('.');
  std::string name;
  if (dot != std::string::npos && function.starts_with(last.substr(0, dot + 1))) {
    name = last;
  } else if (function.starts_with("sparse.read_") || function == "load") {
    name = command;
  } else if (function == "rand.Generator") {
    name = "rand";
  }
  if (!name.empty()) message.replace(0, function.size(), name);
}

// The words of "one of a, b (c), d".
std::vector<std::string> listed(const std::string& message, std::string_view before) {
  std::vector<std::string> words(1);
  for (const char c : message.substr(message.find(before) + before.size())) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

// "; did you mean 'fp32'?" behind a list of what a type, an executor or a precision can be.
void add_near_word(std::string& message) {
  constexpr std::pair<std::string_view, std::string_view> kLists[] = {{"dtype '", "' is not known; use one of "},
                                                                      {"executor: '", "' is not known; choose one of "},
                                                                      {"precision: '", "' is none of "}};
  for (const auto& [before, after] : kLists) {
    const std::size_t end = message.find(after);
    if (!message.starts_with(before) || end == std::string::npos) continue;
    const std::string word = message.substr(before.size(), end - before.size());
    message += meant(word, listed(message, after));
    return;
  }
}

// A target that a float64 cannot hold was read as 0; the message has that, and the user wrote another number.
void name_target(std::string& message) {
  constexpr std::string_view kRead = "precision: target error 0; it must lie between 0 and 1";
  if (message != kRead) return;
  const std::string& line = command_line();
  const std::size_t at = line.rfind("target=");
  if (at == std::string::npos) return;
  const std::string word = line.substr(at, line.find_first_of(" '", at) - at);
  message = "precision: " + printable(word) + " is 0 as a float64; give a target between 0 and 1";
}

}  // namespace

std::string in_user_words(const std::string& message, const std::string& command) {
  std::string text = message;
  for (const auto& [from, to] : kAdvice) replace(text, from, to);
  const bool host = text.find("no host kernel") != std::string::npos;
  replace(text, "use an executor of the other family", host ? "use --exec sim:trn2" : "use --exec host");
  name_target(text);
  add_near_word(text);
  name_command(text, command);
  return text;
}

}  // namespace trn::tools
