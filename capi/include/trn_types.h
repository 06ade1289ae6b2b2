/* trn_types.h: the types that every C header of trnsci shares. */
#ifndef TRN_TYPES_H
#define TRN_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st* trnStream_t; /* CUDA's tags: people forward-declare them */
typedef struct CUevent_st* trnEvent_t;
typedef struct CUgraph_st* trnGraph_t;
typedef struct CUgraphExec_st* trnGraphExec_t;
typedef struct CUgraphNode_st* trnGraphNode_t;
typedef void (*trnHostFn_t)(void* userData);

#define trnStreamDefault 0x00
#define trnStreamNonBlocking 0x01
#define trnStreamLegacy ((trnStream_t)0x1)
#define trnStreamPerThread ((trnStream_t)0x2)
#define trnEventDefault 0x00
#define trnEventBlockingSync 0x01
#define trnEventDisableTiming 0x02
#define trnHostAllocDefault 0x00
#define trnMemAttachGlobal 0x01
#define trnMemAttachHost 0x02

#if defined(__cplusplus)
#define TRN_ALIGN(n) alignas(n)
#else
#define TRN_ALIGN(n) _Alignas(n)
#endif
typedef struct trnComplex {
  TRN_ALIGN(8) float x;
  float y;
} trnComplex;
typedef struct trnDoubleComplex {
  TRN_ALIGN(16) double x;
  double y;
} trnDoubleComplex;

/* cudaDataType's values. */
typedef enum trnDataType_t {
  TRN_R_32F = 0,
  TRN_R_64F = 1,
  TRN_R_16F = 2,
  TRN_R_8I = 3,
  TRN_C_32F = 4,
  TRN_C_64F = 5,
  TRN_R_32I = 10,
  TRN_R_16BF = 14,
  TRN_R_8F_E4M3 = 28, /* largest number 448; on devices trn3 */
  TRN_R_8F_E5M2 = 29,
  TRN_R_4F_E2M1 = 33,
  TRN_R_8F_E4M3_240 = 1028 /* ours: Trainium's e4m3, largest number 240 */
} trnDataType;

/* CUDA's emulation settings: accepted, see capi/README.md. */
typedef enum trnEmulationStrategy_t {
  TRN_EMULATION_STRATEGY_DEFAULT = 0,
  TRN_EMULATION_STRATEGY_PERFORMANT = 1,
  TRN_EMULATION_STRATEGY_EAGER = 2
} trnEmulationStrategy;
typedef enum trnEmulationMantissaControl_t {
  TRN_EMULATION_MANTISSA_CONTROL_DYNAMIC = 0,
  TRN_EMULATION_MANTISSA_CONTROL_FIXED = 1
} trnEmulationMantissaControl;
typedef enum trnEmulationSpecialValuesSupport_t {
  TRN_EMULATION_SPECIAL_VALUES_SUPPORT_NONE = 0,
  TRN_EMULATION_SPECIAL_VALUES_SUPPORT_INFINITY = 1,
  TRN_EMULATION_SPECIAL_VALUES_SUPPORT_NAN = 2,
  TRN_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT = 0xFFFF
} trnEmulationSpecialValuesSupport;

/* What a device is. New members come at the end; callers pass the size they know. */
typedef struct trnDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor; /* the CUDA feature level that we follow, 9.0 */
  int multiProcessorCount;
  int warpSize;
  int maxThreadsPerBlock;
  int computeMode;
  int managedMemory;
  int unifiedAddressing;
  int concurrentKernels;
  int integrated;
  int ECCEnabled;
  char executor[64]; /* "host", "sim:trn2", ... */
} trnDeviceProp;

typedef struct trnPointerAttributes {
  int type; /* trnMemoryType */
  int device;
  void* devicePointer;
  void* hostPointer;
} trnPointerAttributes;

#ifdef __cplusplus
}
#endif

#endif
