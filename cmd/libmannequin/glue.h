// What the library's Go code calls in C.

#ifndef MANNEQUIN_GLUE_H
#define MANNEQUIN_GLUE_H

#include "mannequin.h"

// Stores the text of this thread's last error.
void mqSetLastError(const char* text, size_t length);

// Call the host. A context is a number here, which Go may keep: hosts pass small ones, and pointers cannot have those in Go.
mqGroundHit mqCallGround(mqGroundFcn* ground, mqGroundQuery query, uintptr_t context);
void mqCallMove(mqMoveFcn* move, mqCrowdId crowd, mqMove* moves, int32_t count, uintptr_t context);

#endif // MANNEQUIN_GLUE_H
