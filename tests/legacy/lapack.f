C@ f2c -a
      SUBROUTINE DGETF2(M,N,A,LDA,IPIV)
C     UNBLOCKED LU, RIGHT-LOOKING, THE PIVOTS GIVEN
      INTEGER M,N,LDA,IPIV(*),I,J,JP,K,L
      DOUBLE PRECISION A(LDA,*),TEMP
C@ begin m=512 n=512 lda=512
      DO 50 J = 1,MIN(M,N)
         JP = IPIV(J)
         IF (A(JP,J).NE.0.0D0) THEN
            IF (JP.NE.J) THEN
               DO 10 L = 1,N
                  TEMP = A(J,L)
                  A(J,L) = A(JP,L)
                  A(JP,L) = TEMP
   10          CONTINUE
            END IF
            DO 20 I = J + 1,M
               A(I,J) = A(I,J)/A(J,J)
   20       CONTINUE
         END IF
         DO 40 K = J + 1,N
            DO 30 I = J + 1,M
               A(I,K) = A(I,K) - A(I,J)*A(J,K)
   30       CONTINUE
   40    CONTINUE
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGETFN(N,A,LDA)
C     THE SAME WITHOUT PIVOTS
      INTEGER N,LDA,I,J,K
      DOUBLE PRECISION A(LDA,*)
C@ begin n=512 lda=512
      DO 50 J = 1,N
         DO 20 I = J + 1,N
            A(I,J) = A(I,J)/A(J,J)
   20    CONTINUE
         DO 40 K = J + 1,N
            DO 30 I = J + 1,N
               A(I,K) = A(I,K) - A(I,J)*A(J,K)
   30       CONTINUE
   40    CONTINUE
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DPOTF2(N,A,LDA)
C     CHOLESKY, LOWER TRIANGLE
      INTEGER N,LDA,I,J,K
      DOUBLE PRECISION A(LDA,*),AJJ
C@ begin n=512 lda=512
      DO 20 J = 1,N
         AJJ = A(J,J)
         DO 5 K = 1,J - 1
            AJJ = AJJ - A(J,K)*A(J,K)
    5    CONTINUE
         AJJ = DSQRT(AJJ)
         A(J,J) = AJJ
         DO 12 K = 1,J - 1
            DO 10 I = J + 1,N
               A(I,J) = A(I,J) - A(I,K)*A(J,K)
   10       CONTINUE
   12    CONTINUE
         DO 15 I = J + 1,N
            A(I,J) = A(I,J)/AJJ
   15    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DLARFG(N,ALPHA,X,INCX,XNORM,BETA,TAU)
C     SCALING OF A HOUSEHOLDER VECTOR
      INTEGER N,INCX,IX
      DOUBLE PRECISION ALPHA,X(*),XNORM,BETA,TAU,T
      T = DSQRT(ALPHA**2 + XNORM**2)
      BETA = -DSIGN(T,ALPHA)
      TAU = (BETA - ALPHA)/BETA
      T = 1.0D0/(ALPHA - BETA)
C@ begin n=100000 incx=1
      DO 10 IX = 1,1 + (N-2)*INCX,INCX
         X(IX) = T*X(IX)
   10 CONTINUE
C@ end
      ALPHA = BETA
      RETURN
      END
      SUBROUTINE DLARFL(M,N,V,TAU,C,LDC,WORK)
C     A REFLECTOR FROM THE LEFT
      INTEGER M,N,LDC,I,J
      DOUBLE PRECISION V(*),TAU,C(LDC,*),WORK(*)
C@ begin m=1024 n=1024 ldc=1024
      DO 20 J = 1,N
         WORK(J) = 0.0D0
         DO 10 I = 1,M
            WORK(J) = WORK(J) + C(I,J)*V(I)
   10    CONTINUE
   20 CONTINUE
      DO 40 J = 1,N
         DO 30 I = 1,M
            C(I,J) = C(I,J) - TAU*V(I)*WORK(J)
   30    CONTINUE
   40 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DLASRL(M,N,C,S,A,LDA)
C     ROTATIONS OF NEIGHBOURING ROWS, FROM THE FIRST TO THE LAST
      INTEGER M,N,LDA,I,J
      DOUBLE PRECISION C(*),S(*),A(LDA,*),CTEMP,STEMP,TEMP
C@ begin m=512 n=512 lda=512
      DO 20 J = 1,M - 1
         CTEMP = C(J)
         STEMP = S(J)
         IF ((CTEMP.NE.1.0D0) .OR. (STEMP.NE.0.0D0)) THEN
            DO 10 I = 1,N
               TEMP = A(J+1,I)
               A(J+1,I) = CTEMP*TEMP - STEMP*A(J,I)
               A(J,I) = STEMP*TEMP + CTEMP*A(J,I)
   10       CONTINUE
         END IF
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DLASRB(M,N,C,S,A,LDA)
C     FROM THE RIGHT, BACKWARDS, AGAINST THE LAST COLUMN
      INTEGER M,N,LDA,I,J
      DOUBLE PRECISION C(*),S(*),A(LDA,*),CTEMP,STEMP,TEMP
C@ begin m=512 n=512 lda=512
      DO 240 J = N - 1,1,-1
         CTEMP = C(J)
         STEMP = S(J)
         IF ((CTEMP.NE.1.0D0) .OR. (STEMP.NE.0.0D0)) THEN
            DO 230 I = 1,M
               TEMP = A(I,J)
               A(I,J) = STEMP*A(I,N) + CTEMP*TEMP
               A(I,N) = CTEMP*A(I,N) - STEMP*TEMP
  230       CONTINUE
         END IF
  240 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DLACPU(M,N,A,LDA,B,LDB)
      INTEGER M,N,LDA,LDB,I,J
      DOUBLE PRECISION A(LDA,*),B(LDB,*)
C@ begin m=2048 n=2048 lda=2048 ldb=2048
      DO 20 J = 1,N
         DO 10 I = 1,MIN(J,M)
            B(I,J) = A(I,J)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DLASET(M,N,ALPHA,BETA,A,LDA)
      INTEGER M,N,LDA,I,J
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*)
C@ begin m=2048 n=2048 lda=2048
      DO 20 J = 2,N
         DO 10 I = 1,MIN(J-1,M)
            A(I,J) = ALPHA
   10    CONTINUE
   20 CONTINUE
      DO 30 I = 1,MIN(M,N)
         A(I,I) = BETA
   30 CONTINUE
C@ end
      RETURN
      END
      DOUBLE PRECISION FUNCTION DLANGM(M,N,A,LDA)
C     THE LARGEST MAGNITUDE
      INTEGER M,N,LDA,I,J
      DOUBLE PRECISION A(LDA,*),VALUE
      VALUE = 0.0D0
C@ begin m=2048 n=2048 lda=2048
      DO 20 J = 1,N
         DO 10 I = 1,M
            VALUE = MAX(VALUE,ABS(A(I,J)))
   10    CONTINUE
   20 CONTINUE
C@ end
      DLANGM = VALUE
      RETURN
      END
      DOUBLE PRECISION FUNCTION DLANG1(M,N,A,LDA)
C     THE LARGEST SUM OF A COLUMN
      INTEGER M,N,LDA,I,J
      DOUBLE PRECISION A(LDA,*),VALUE,SUM
      VALUE = 0.0D0
C@ begin m=2048 n=2048 lda=2048
      DO 40 J = 1,N
         SUM = 0.0D0
         DO 30 I = 1,M
            SUM = SUM + ABS(A(I,J))
   30    CONTINUE
         VALUE = MAX(VALUE,SUM)
   40 CONTINUE
C@ end
      DLANG1 = VALUE
      RETURN
      END
      SUBROUTINE DLANGI(M,N,A,LDA,WORK,VALUE)
C     THE LARGEST SUM OF A ROW
      INTEGER M,N,LDA,I,J
      DOUBLE PRECISION A(LDA,*),WORK(*),VALUE
C@ begin m=2048 n=2048 lda=2048
      DO 50 I = 1,M
         WORK(I) = 0.0D0
   50 CONTINUE
      DO 70 J = 1,N
         DO 60 I = 1,M
            WORK(I) = WORK(I) + ABS(A(I,J))
   60    CONTINUE
   70 CONTINUE
      VALUE = 0.0D0
      DO 80 I = 1,M
         VALUE = MAX(VALUE,WORK(I))
   80 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DLASWP(N,A,LDA,K1,K2,IPIV)
C     ROW INTERCHANGES: THE COLUMNS ARE INDEPENDENT
      INTEGER N,LDA,K1,K2,IPIV(*),I,IP,J
      DOUBLE PRECISION A(LDA,*),TEMP
C@ begin n=2048 lda=2048 k1=1 k2=64
      DO 20 J = 1,N
         DO 10 I = K1,K2
            IP = IPIV(I)
            IF (IP.NE.I) THEN
               TEMP = A(I,J)
               A(I,J) = A(IP,J)
               A(IP,J) = TEMP
            END IF
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DPTTS2(N,NRHS,D,E,B,LDB)
      INTEGER N,NRHS,LDB,I,J
      DOUBLE PRECISION D(*),E(*),B(LDB,*)
C@ begin n=512 nrhs=4096 ldb=512
      DO 30 J = 1,NRHS
         DO 10 I = 2,N
            B(I,J) = B(I,J) - B(I-1,J)*E(I-1)
   10    CONTINUE
         B(N,J) = B(N,J)/D(N)
         DO 20 I = N - 1,1,-1
            B(I,J) = B(I,J)/D(I) - B(I+1,J)*E(I)
   20    CONTINUE
   30 CONTINUE
C@ end
      RETURN
      END
