#pragma once

#include "CoreMinimal.h"
#include "mannequin.h"

DECLARE_LOG_CATEGORY_EXTERN(LogMannequin, Log, All);

/** Returns whether a call has worked, and logs its error if not. */
bool MannequinCheck(mqResult Result);
