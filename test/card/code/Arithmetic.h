// What whole and real numbers have in common are the names of instructions only. Of a type that is not theirs these return false.
#pragma once

#include "test/card/code/Site.h"

namespace tbem::card {

bool addIntegers(Site& site, Type type);
bool subtractIntegers(Site& site, Type type);
bool multiplyIntegers(Site& site, Type type);
bool divideIntegers(Site& site, Type type);
bool leastOfIntegers(Site& site, Type type);
bool greatestOfIntegers(Site& site, Type type);
bool negateIntegers(Site& site, Type type);
bool magnitudeOfIntegers(Site& site, Type type);
void multiplyAddIntegers(Site& site);

void emitReciprocal(Site& site);

void addWithCarryOut(Site& site);
void subtractWithCarryOut(Site& site);
void multiplyAddWithCarryOut(Site& site);

}  // namespace tbem::card
