// What the library's Go code calls in C.

#ifndef MANNEQUIN_GLUE_H
#define MANNEQUIN_GLUE_H

#include "mannequin.h"

// Stores the text of this thread's last error.
void mqSetLastError(const char* text, size_t length);

// Call the host.
mqGroundHit mqCallGround(mqGroundFcn* ground, mqGroundQuery query, void* context);
void mqCallMove(mqMoveFcn* move, mqCrowdId crowd, mqMove* moves, int32_t count, void* context);

#endif // MANNEQUIN_GLUE_H
