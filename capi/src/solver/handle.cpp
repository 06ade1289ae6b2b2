// Handles of cuSOLVER, and its parameters, of which there are none here.
#include "solver.hpp"

struct trnsolverDnParams {};

namespace trn::capi::solver {

void create(trnsolverDnHandle_t* handle) { create_handle(handle); }
void destroy(Call& c) { alive<trnsolverDnContext>().remove(&c.handle); }
void get_version(int* version) { answer("version", version, 12000); }
void create_params(trnsolverDnParams_t* params) {
  require(params != nullptr, "params is null; it receives the parameters");
  *params = alive<trnsolverDnParams>().add(std::make_shared<trnsolverDnParams>());
}
void destroy_params(trnsolverDnParams_t params) {
  (void)alive<trnsolverDnParams>().find(params, "params");
  alive<trnsolverDnParams>().remove(params);
}
// There is one algorithm of each.
void set_adv_options(trnsolverDnParams_t params, trnsolverDnFunction_t function, trnsolverAlgMode_t algorithm) {
  (void)alive<trnsolverDnParams>().find(params, "params");
  require(function >= TRNSOLVERDN_GETRF && function <= TRNSOLVERDN_SYEVBATCHED && algorithm >= TRNSOLVER_ALG_0 &&
              algorithm <= TRNSOLVER_ALG_2,
          "algorithm {} of function {}", static_cast<int>(algorithm), static_cast<int>(function));
}

}  // namespace trn::capi::solver
