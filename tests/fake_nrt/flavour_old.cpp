// This library's flavour: see CMakeLists.txt.
#include "state.hpp"

namespace fake {
const char* const kFlavour = "old";
}
