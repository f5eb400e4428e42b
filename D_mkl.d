D_mkl.o: chapters/D_mkl.c src/attention.h
src/attention.h:
