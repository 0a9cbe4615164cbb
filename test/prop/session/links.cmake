set(LINKS tbem_compiler_session)
list(APPEND sources ${folder}/../syntax/Mutants.cpp)
