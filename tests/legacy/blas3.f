C@ f2c
      SUBROUTINE DGEMNN(M,N,K,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
C     C := ALPHA*A*B + BETA*C
      INTEGER M,N,K,LDA,LDB,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP
      IF ((M.EQ.0) .OR. (N.EQ.0)) RETURN
C@ begin m=512 n=512 k=512 lda=512 ldb=512 ldc=512
      DO 90 J = 1,N
         IF (BETA.EQ.0.0D0) THEN
            DO 50 I = 1,M
               C(I,J) = 0.0D0
   50       CONTINUE
         ELSE IF (BETA.NE.1.0D0) THEN
            DO 60 I = 1,M
               C(I,J) = BETA*C(I,J)
   60       CONTINUE
         END IF
         DO 80 L = 1,K
            TEMP = ALPHA*B(L,J)
            DO 70 I = 1,M
               C(I,J) = C(I,J) + TEMP*A(I,L)
   70       CONTINUE
   80    CONTINUE
   90 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGEMTN(M,N,K,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
C     C := ALPHA*A'*B + BETA*C
      INTEGER M,N,K,LDA,LDB,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP
C@ begin m=512 n=512 k=512 lda=512 ldb=512 ldc=512
      DO 120 J = 1,N
         DO 110 I = 1,M
            TEMP = 0.0D0
            DO 100 L = 1,K
               TEMP = TEMP + A(L,I)*B(L,J)
  100       CONTINUE
            IF (BETA.EQ.0.0D0) THEN
               C(I,J) = ALPHA*TEMP
            ELSE
               C(I,J) = ALPHA*TEMP + BETA*C(I,J)
            END IF
  110    CONTINUE
  120 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGEMNT(M,N,K,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
C     C := ALPHA*A*B' + BETA*C, THE OLDER FORM, WHICH TESTS B
      INTEGER M,N,K,LDA,LDB,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP
C@ begin m=512 n=512 k=512 lda=512 ldb=512 ldc=512
      DO 170 J = 1,N
         IF (BETA.EQ.0.0D0) THEN
            DO 130 I = 1,M
               C(I,J) = 0.0D0
  130       CONTINUE
         ELSE IF (BETA.NE.1.0D0) THEN
            DO 140 I = 1,M
               C(I,J) = BETA*C(I,J)
  140       CONTINUE
         END IF
         DO 160 L = 1,K
            IF (B(J,L).NE.0.0D0) THEN
               TEMP = ALPHA*B(J,L)
               DO 150 I = 1,M
                  C(I,J) = C(I,J) + TEMP*A(I,L)
  150          CONTINUE
            END IF
  160    CONTINUE
  170 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGEMTT(M,N,K,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
      INTEGER M,N,K,LDA,LDB,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP
C@ begin m=512 n=512 k=512 lda=512 ldb=512 ldc=512
      DO 200 J = 1,N
         DO 190 I = 1,M
            TEMP = 0.0D0
            DO 180 L = 1,K
               TEMP = TEMP + A(L,I)*B(J,L)
  180       CONTINUE
            IF (BETA.EQ.0.0D0) THEN
               C(I,J) = ALPHA*TEMP
            ELSE
               C(I,J) = ALPHA*TEMP + BETA*C(I,J)
            END IF
  190    CONTINUE
  200 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYMLU(M,N,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
C     C := ALPHA*A*B + BETA*C, A SYMMETRIC, UPPER TRIANGLE
      INTEGER M,N,LDA,LDB,LDC,I,J,K
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*)
      DOUBLE PRECISION TEMP1,TEMP2
C@ begin m=512 n=512 lda=512 ldb=512 ldc=512
      DO 70 J = 1,N
         DO 60 I = 1,M
            TEMP1 = ALPHA*B(I,J)
            TEMP2 = 0.0D0
            DO 50 K = 1,I - 1
               C(K,J) = C(K,J) + TEMP1*A(K,I)
               TEMP2 = TEMP2 + B(K,J)*A(K,I)
   50       CONTINUE
            IF (BETA.EQ.0.0D0) THEN
               C(I,J) = TEMP1*A(I,I) + ALPHA*TEMP2
            ELSE
               C(I,J) = BETA*C(I,J) + TEMP1*A(I,I) + ALPHA*TEMP2
            END IF
   60    CONTINUE
   70 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYMR(M,N,ALPHA,A,LDA,B,LDB,BETA,C,LDC,UPPER)
      INTEGER M,N,LDA,LDB,LDC,I,J,K
      LOGICAL UPPER
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP1
C@ begin m=512 n=512 lda=512 ldb=512 ldc=512
      DO 170 J = 1,N
         TEMP1 = ALPHA*A(J,J)
         IF (BETA.EQ.0.0D0) THEN
            DO 110 I = 1,M
               C(I,J) = TEMP1*B(I,J)
  110       CONTINUE
         ELSE
            DO 120 I = 1,M
               C(I,J) = BETA*C(I,J) + TEMP1*B(I,J)
  120       CONTINUE
         END IF
         DO 140 K = 1,J - 1
            IF (UPPER) THEN
               TEMP1 = ALPHA*A(K,J)
            ELSE
               TEMP1 = ALPHA*A(J,K)
            END IF
            DO 130 I = 1,M
               C(I,J) = C(I,J) + TEMP1*B(I,K)
  130       CONTINUE
  140    CONTINUE
         DO 160 K = J + 1,N
            IF (UPPER) THEN
               TEMP1 = ALPHA*A(J,K)
            ELSE
               TEMP1 = ALPHA*A(K,J)
            END IF
            DO 150 I = 1,M
               C(I,J) = C(I,J) + TEMP1*B(I,K)
  150       CONTINUE
  160    CONTINUE
  170 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYRKN(N,K,ALPHA,A,LDA,BETA,C,LDC)
C     C := ALPHA*A*A' + BETA*C, UPPER TRIANGLE
      INTEGER N,K,LDA,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),C(LDC,*),TEMP
C@ begin n=512 k=512 lda=512 ldc=512
      DO 130 J = 1,N
         IF (BETA.EQ.0.0D0) THEN
            DO 90 I = 1,J
               C(I,J) = 0.0D0
   90       CONTINUE
         ELSE IF (BETA.NE.1.0D0) THEN
            DO 100 I = 1,J
               C(I,J) = BETA*C(I,J)
  100       CONTINUE
         END IF
         DO 120 L = 1,K
            IF (A(J,L).NE.0.0D0) THEN
               TEMP = ALPHA*A(J,L)
               DO 110 I = 1,J
                  C(I,J) = C(I,J) + TEMP*A(I,L)
  110          CONTINUE
            END IF
  120    CONTINUE
  130 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYRKT(N,K,ALPHA,A,LDA,BETA,C,LDC)
      INTEGER N,K,LDA,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),C(LDC,*),TEMP
C@ begin n=512 k=512 lda=512 ldc=512
      DO 240 J = 1,N
         DO 230 I = J,N
            TEMP = 0.0D0
            DO 220 L = 1,K
               TEMP = TEMP + A(L,I)*A(L,J)
  220       CONTINUE
            IF (BETA.EQ.0.0D0) THEN
               C(I,J) = ALPHA*TEMP
            ELSE
               C(I,J) = ALPHA*TEMP + BETA*C(I,J)
            END IF
  230    CONTINUE
  240 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYR2K(N,K,ALPHA,A,LDA,B,LDB,C,LDC)
      INTEGER N,K,LDA,LDB,LDC,I,J,L
      DOUBLE PRECISION ALPHA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP1,TEMP2
C@ begin n=512 k=512 lda=512 ldb=512 ldc=512
      DO 130 J = 1,N
         DO 120 L = 1,K
            IF ((A(J,L).NE.0.0D0) .OR. (B(J,L).NE.0.0D0)) THEN
               TEMP1 = ALPHA*B(J,L)
               TEMP2 = ALPHA*A(J,L)
               DO 110 I = 1,J
                  C(I,J) = C(I,J) + A(I,L)*TEMP1 + B(I,L)*TEMP2
  110          CONTINUE
            END IF
  120    CONTINUE
  130 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSR2KT(N,K,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
      INTEGER N,K,LDA,LDB,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*)
      DOUBLE PRECISION TEMP1,TEMP2
C@ begin n=512 k=512 lda=512 ldb=512 ldc=512
      DO 210 J = 1,N
         DO 200 I = 1,J
            TEMP1 = 0.0D0
            TEMP2 = 0.0D0
            DO 190 L = 1,K
               TEMP1 = TEMP1 + A(L,I)*B(L,J)
               TEMP2 = TEMP2 + B(L,I)*A(L,J)
  190       CONTINUE
            IF (BETA.EQ.0.0D0) THEN
               C(I,J) = ALPHA*TEMP1 + ALPHA*TEMP2
            ELSE
               C(I,J) = BETA*C(I,J) + ALPHA*TEMP1 + ALPHA*TEMP2
            END IF
  200    CONTINUE
  210 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRMLU(M,N,ALPHA,A,LDA,B,LDB,NOUNIT)
C     B := ALPHA*A*B, A UPPER TRIANGULAR, IN PLACE
      INTEGER M,N,LDA,LDB,I,J,K
      LOGICAL NOUNIT
      DOUBLE PRECISION ALPHA,A(LDA,*),B(LDB,*),TEMP
C@ begin m=512 n=512 lda=512 ldb=512
      DO 50 J = 1,N
         DO 40 K = 1,M
            IF (B(K,J).NE.0.0D0) THEN
               TEMP = ALPHA*B(K,J)
               DO 30 I = 1,K - 1
                  B(I,J) = B(I,J) + TEMP*A(I,K)
   30          CONTINUE
               IF (NOUNIT) TEMP = TEMP*A(K,K)
               B(K,J) = TEMP
            END IF
   40    CONTINUE
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRMLT(M,N,ALPHA,A,LDA,B,LDB,NOUNIT)
      INTEGER M,N,LDA,LDB,I,J,K
      LOGICAL NOUNIT
      DOUBLE PRECISION ALPHA,A(LDA,*),B(LDB,*),TEMP
C@ begin m=512 n=512 lda=512 ldb=512
      DO 110 J = 1,N
         DO 100 I = M,1,-1
            TEMP = B(I,J)
            IF (NOUNIT) TEMP = TEMP*A(I,I)
            DO 90 K = 1,I - 1
               TEMP = TEMP + A(K,I)*B(K,J)
   90       CONTINUE
            B(I,J) = ALPHA*TEMP
  100    CONTINUE
  110 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRMRU(M,N,ALPHA,A,LDA,B,LDB,NOUNIT)
C     B := ALPHA*B*A: THE COLUMNS FROM THE LAST ONE DOWN
      INTEGER M,N,LDA,LDB,I,J,K
      LOGICAL NOUNIT
      DOUBLE PRECISION ALPHA,A(LDA,*),B(LDB,*),TEMP
C@ begin m=512 n=512 lda=512 ldb=512
      DO 200 J = N,1,-1
         TEMP = ALPHA
         IF (NOUNIT) TEMP = TEMP*A(J,J)
         DO 170 I = 1,M
            B(I,J) = TEMP*B(I,J)
  170    CONTINUE
         DO 190 K = 1,J - 1
            IF (A(K,J).NE.0.0D0) THEN
               TEMP = ALPHA*A(K,J)
               DO 180 I = 1,M
                  B(I,J) = B(I,J) + TEMP*B(I,K)
  180          CONTINUE
            END IF
  190    CONTINUE
  200 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRSLU(M,N,ALPHA,A,LDA,B,LDB,NOUNIT)
C     B := ALPHA*INV(A)*B
      INTEGER M,N,LDA,LDB,I,J,K
      LOGICAL NOUNIT
      DOUBLE PRECISION ALPHA,A(LDA,*),B(LDB,*)
C@ begin m=512 n=512 lda=512 ldb=512
      DO 60 J = 1,N
         IF (ALPHA.NE.1.0D0) THEN
            DO 30 I = 1,M
               B(I,J) = ALPHA*B(I,J)
   30       CONTINUE
         END IF
         DO 50 K = M,1,-1
            IF (B(K,J).NE.0.0D0) THEN
               IF (NOUNIT) B(K,J) = B(K,J)/A(K,K)
               DO 40 I = 1,K - 1
                  B(I,J) = B(I,J) - B(K,J)*A(I,K)
   40          CONTINUE
            END IF
   50    CONTINUE
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRSLT(M,N,ALPHA,A,LDA,B,LDB,NOUNIT)
      INTEGER M,N,LDA,LDB,I,J,K
      LOGICAL NOUNIT
      DOUBLE PRECISION ALPHA,A(LDA,*),B(LDB,*),TEMP
C@ begin m=512 n=512 lda=512 ldb=512
      DO 130 J = 1,N
         DO 120 I = 1,M
            TEMP = ALPHA*B(I,J)
            DO 110 K = 1,I - 1
               TEMP = TEMP - A(K,I)*B(K,J)
  110       CONTINUE
            IF (NOUNIT) TEMP = TEMP/A(I,I)
            B(I,J) = TEMP
  120    CONTINUE
  130 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRSRU(M,N,ALPHA,A,LDA,B,LDB,NOUNIT)
C     B := ALPHA*B*INV(A)
      INTEGER M,N,LDA,LDB,I,J,K
      LOGICAL NOUNIT
      DOUBLE PRECISION ALPHA,A(LDA,*),B(LDB,*),TEMP
C@ begin m=512 n=512 lda=512 ldb=512
      DO 210 J = 1,N
         IF (ALPHA.NE.1.0D0) THEN
            DO 170 I = 1,M
               B(I,J) = ALPHA*B(I,J)
  170       CONTINUE
         END IF
         DO 190 K = 1,J - 1
            IF (A(K,J).NE.0.0D0) THEN
               DO 180 I = 1,M
                  B(I,J) = B(I,J) - A(K,J)*B(I,K)
  180          CONTINUE
            END IF
  190    CONTINUE
         IF (NOUNIT) THEN
            TEMP = 1.0D0/A(J,J)
            DO 200 I = 1,M
               B(I,J) = TEMP*B(I,J)
  200       CONTINUE
         END IF
  210 CONTINUE
C@ end
      RETURN
      END
