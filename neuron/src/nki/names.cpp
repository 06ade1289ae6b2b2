// Names become identifiers by replacing every other character with '_'; a name that is taken, or that Python or the
// emitted module already uses, gets the first free suffix _2, _3, ...
#include "nki/names.hpp"

#include <cctype>
#include <unordered_set>

namespace trn::neuron::nki {

namespace {

// Python's keywords and the names the emitted module itself relies on.
constexpr const char* kReserved[] = {
    "False", "None",  "True",   "and",      "as",     "assert",  "async", "await", "break",  "class", "continue",
    "def",   "del",   "elif",   "else",     "except", "finally", "for",   "from",  "global", "if",    "import",
    "in",    "is",    "lambda", "nonlocal", "not",    "or",      "pass",  "raise", "return", "try",   "while",
    "with",  "yield", "match",  "case",     "type",   "nki",     "nisa",  "nl",    "range",  "float"};

class Pool {
 public:
  Pool() : used_(std::begin(kReserved), std::end(kReserved)) {}

  std::string take(const std::string& wanted, const char* empty) {
    std::string stem;
    for (const char c : wanted) {
      const auto u = static_cast<unsigned char>(c);
      stem += u < 128 && (std::isalnum(u) || c == '_') ? c : '_';
    }
    if (stem.find_first_not_of('_') == std::string::npos) stem = empty;
    if (std::isdigit(static_cast<unsigned char>(stem.front()))) stem = '_' + stem;
    std::string name = stem;
    for (int i = 2; !used_.insert(name).second; ++i) name = stem + "_" + std::to_string(i);
    return name;
  }

 private:
  std::unordered_set<std::string> used_;
};

}  // namespace

Names::Names(const tile::Program& program) {
  Pool pool;
  kernel = pool.take(program.name(), "kernel");
  for (const tile::TensorDecl& tensor : program.tensors()) tensors.push_back(pool.take(tensor.name, "tensor"));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t j = 0; j < tensors.size(); ++j) {
      const std::string& alias = program.tensors()[j].alias;
      if (!alias.empty() && alias == program.tensors()[i].name) tensors[i] = tensors[j];
    }
  }
  for (const tile::TileDecl& tile : program.tiles()) tiles.push_back(pool.take(tile.name, "tile"));
  for (const tile::LoopDecl& loop : program.loops()) loops.push_back(pool.take(loop.name, "i"));
  for (const tile::LoopDecl& loop : program.loops()) bodies.push_back(pool.take("each_" + loop.name, "body"));
}

}  // namespace trn::neuron::nki
