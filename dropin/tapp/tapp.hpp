// TAPP's types and functions, version 0.5 (github.com/TAPPorg): a C interface for contractions of two tensors,
//
//   D = op_D(alpha op_A(A) op_B(B) + beta op_C(C)),
//
// with integer labels; a label that D lacks is summed, one that occurs twice in a tensor takes its diagonal. Objects
// are handles in integers. Programs have a header <tapp.h> of their own.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// Values of TAPP_datatype, TAPP_prectype and TAPP_element_op.
enum { TAPP_F32 = 0, TAPP_F64 = 1, TAPP_C32 = 2, TAPP_C64 = 3, TAPP_F16 = 4, TAPP_BF16 = 5 };
enum { TAPP_DEFAULT_PREC = -1 };
enum { TAPP_IDENTITY = 0, TAPP_CONJUGATE = 1 };

bool TAPP_check_success(int error);
std::size_t TAPP_explain_error(int error, std::size_t maxlen, char* message);

int TAPP_create_handle(std::intptr_t* handle);
int TAPP_destroy_handle(std::intptr_t handle);
int TAPP_create_executor(std::intptr_t* executor);
int TAPP_destroy_executor(std::intptr_t executor);
int TAPP_destroy_status(std::intptr_t status);
int TAPP_attr_set(std::intptr_t object, int key, void* value);
int TAPP_attr_get(std::intptr_t object, int key, void** value);
int TAPP_attr_clear(std::intptr_t object, int key);

int TAPP_create_tensor_info(std::intptr_t* info, int type, int modes, const std::int64_t* extents,
                            const std::int64_t* strides);
int TAPP_destroy_tensor_info(std::intptr_t info);
int TAPP_get_nmodes(std::intptr_t info);
int TAPP_set_nmodes(std::intptr_t info, int modes);
void TAPP_get_extents(std::intptr_t info, std::int64_t* extents);
int TAPP_set_extents(std::intptr_t info, const std::int64_t* extents);
void TAPP_get_strides(std::intptr_t info, std::int64_t* strides);
int TAPP_set_strides(std::intptr_t info, const std::int64_t* strides);

int TAPP_create_tensor_product(std::intptr_t* product, std::intptr_t handle, int op_a, std::intptr_t a,
                               const std::int64_t* labels_a, int op_b, std::intptr_t b, const std::int64_t* labels_b,
                               int op_c, std::intptr_t c, const std::int64_t* labels_c, int op_d, std::intptr_t d,
                               const std::int64_t* labels_d, int precision);
int TAPP_destroy_tensor_product(std::intptr_t product);
int TAPP_execute_product(std::intptr_t product, std::intptr_t executor, std::intptr_t* status, const void* alpha,
                         const void* a, const void* b, const void* beta, const void* c, void* d);
int TAPP_execute_batched_product(std::intptr_t product, std::intptr_t executor, std::intptr_t* status, int batches,
                                 const void* alpha, const void** a, const void** b, const void* beta, const void** c,
                                 void** d);
}
