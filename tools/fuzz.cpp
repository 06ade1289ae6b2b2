// `trnsci fuzz FAMILY`: random cases of a component against oracles in wider arithmetic, until the time is up. A family
// is one line here.
#include "commands.hpp"
#include "fuzz_driver.hpp"

namespace trn::tools {

void add_fuzz(Command& program) {
  Command parent = program.add("fuzz", "random cases against wider arithmetic");
  parent.needs_one("family");
  fuzz::add_fuzz_blas(parent);
  fuzz::add_fuzz_exact(parent);
  fuzz::add_fuzz_fft(parent);
  fuzz::add_fuzz_files(parent);
  fuzz::add_fuzz_proofs(parent);
  fuzz::add_fuzz_rand(parent);
  fuzz::add_fuzz_solver(parent);
  fuzz::add_fuzz_sparse(parent);
  fuzz::add_fuzz_tensor(parent);
  fuzz::add_fuzz_tile(parent);
}

}  // namespace trn::tools
