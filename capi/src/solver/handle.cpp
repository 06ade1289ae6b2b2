// Handles of cuSOLVER, and its parameters, of which there are none here.
#include <set>

#include "../blas/blas.hpp"
#include "routines.hpp"

struct trnsolverDnParams {};

namespace trn::capi::solver {

Handles<trnsolverDnContext>& handles() {
  static auto& made = *new Handles<trnsolverDnContext>;  // never destroyed: as the devices
  return made;
}
namespace {
Handles<trnsolverDnParams>& params_alive() {
  static auto& made = *new Handles<trnsolverDnParams>;
  return made;
}
}  // namespace

void create(trnsolverDnHandle_t* handle) {
  require(handle != nullptr, "handle is null; it receives the handle");
  Device& d = current_device();
  *handle = handles().add(std::make_shared<trnsolverDnContext>(&d, d.generation, stream_of(nullptr)));
}
void destroy(Call& c) { handles().remove(&c.handle); }
void set_stream(Call& c, trnStream_t stream) { blas::set_stream(c, stream); }
void get_stream(Call& c, trnStream_t* stream) { blas::get_stream(c, stream); }
void get_version(int* version) {
  require(version != nullptr, "version is null; it receives the result");
  *version = 12000;
}
void create_params(trnsolverDnParams_t* params) {
  require(params != nullptr, "params is null; it receives the parameters");
  *params = params_alive().add(std::make_shared<trnsolverDnParams>());
}
void destroy_params(trnsolverDnParams_t params) {
  (void)params_alive().find(params, "params");
  params_alive().remove(params);
}
// There is one algorithm of each.
void set_adv_options(trnsolverDnParams_t params, trnsolverDnFunction_t function, trnsolverAlgMode_t algorithm) {
  (void)params_alive().find(params, "params");
  require(function >= TRNSOLVERDN_GETRF && function <= TRNSOLVERDN_SYEVBATCHED && algorithm >= TRNSOLVER_ALG_0 &&
              algorithm <= TRNSOLVER_ALG_2,
          "algorithm {} of function {}", static_cast<int>(algorithm), static_cast<int>(function));
}

}  // namespace trn::capi::solver
