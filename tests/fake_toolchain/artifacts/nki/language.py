"""Stands for nki.language: the element types that NumPy lacks, by their storage."""

import numpy as np

bfloat16 = np.uint16
tfloat32 = np.uint32
float8_e4m3 = np.uint8
float8_e4m3fn = np.uint8
float8_e5m2 = np.uint8
