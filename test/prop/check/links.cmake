list(APPEND sources ${folder}/../syntax/Mutants.cpp)
