C@ f2c
      SUBROUTINE DGEMVN(M,N,ALPHA,A,LDA,X,INCX,BETA,Y)
C     Y := ALPHA*A*X + BETA*Y, COLUMN BY COLUMN
      INTEGER M,N,LDA,INCX,I,J,JX,KX
      DOUBLE PRECISION ALPHA,BETA,A(LDA,*),X(*),Y(*),TEMP
      IF (M.EQ.0 .OR. N.EQ.0) RETURN
      KX = 1
      IF (INCX.LT.0) KX = 1 - (N-1)*INCX
C@ begin m=2048 n=2048 lda=2048 incx=1
      IF (BETA.NE.1.0D0) THEN
         IF (BETA.EQ.0.0D0) THEN
            DO 10 I = 1,M
               Y(I) = 0.0D0
   10       CONTINUE
         ELSE
            DO 20 I = 1,M
               Y(I) = BETA*Y(I)
   20       CONTINUE
         END IF
      END IF
      JX = KX
      DO 60 J = 1,N
         TEMP = ALPHA*X(JX)
         DO 50 I = 1,M
            Y(I) = Y(I) + TEMP*A(I,J)
   50    CONTINUE
         JX = JX + INCX
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGEMVZ(M,N,ALPHA,A,LDA,X,Y)
C     THE OLDER FORM, WHICH SKIPS COLUMNS OF A ZERO
      INTEGER M,N,LDA,I,J
      DOUBLE PRECISION ALPHA,A(LDA,*),X(*),Y(*),TEMP
C@ begin m=2048 n=2048 lda=2048
      DO 60 J = 1,N
         IF (X(J).NE.0.0D0) THEN
            TEMP = ALPHA*X(J)
            DO 50 I = 1,M
               Y(I) = Y(I) + TEMP*A(I,J)
   50       CONTINUE
         END IF
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGEMVS(M,N,ALPHA,A,LDA,X,INCX,Y,INCY)
C     BOTH VECTORS WITH STRIDES
      INTEGER M,N,LDA,INCX,INCY,I,J,IY,JX,KX,KY
      DOUBLE PRECISION ALPHA,A(LDA,*),X(*),Y(*),TEMP
      KX = 1
      KY = 1
      IF (INCX.LT.0) KX = 1 - (N-1)*INCX
      IF (INCY.LT.0) KY = 1 - (M-1)*INCY
C@ begin m=2048 n=2048 lda=2048 incx=1 incy=1
      JX = KX
      DO 80 J = 1,N
         TEMP = ALPHA*X(JX)
         IY = KY
         DO 70 I = 1,M
            Y(IY) = Y(IY) + TEMP*A(I,J)
            IY = IY + INCY
   70    CONTINUE
         JX = JX + INCX
   80 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGEMVT(M,N,ALPHA,A,LDA,X,Y,INCY)
      INTEGER M,N,LDA,INCY,I,J,JY
      DOUBLE PRECISION ALPHA,A(LDA,*),X(*),Y(*),TEMP
      JY = 1
      IF (INCY.LT.0) JY = 1 - (N-1)*INCY
C@ begin m=2048 n=2048 lda=2048 incy=1
      DO 100 J = 1,N
         TEMP = 0.0D0
         DO 90 I = 1,M
            TEMP = TEMP + A(I,J)*X(I)
   90    CONTINUE
         Y(JY) = Y(JY) + ALPHA*TEMP
         JY = JY + INCY
  100 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGERS(M,N,ALPHA,X,INCX,Y,INCY,A,LDA)
      INTEGER M,N,INCX,INCY,LDA,I,IX,J,JY,KX
      DOUBLE PRECISION ALPHA,X(*),Y(*),A(LDA,*),TEMP
      JY = 1
      IF (INCY.LT.0) JY = 1 - (N-1)*INCY
      KX = 1
      IF (INCX.LT.0) KX = 1 - (M-1)*INCX
C@ begin m=2048 n=2048 lda=2048 incx=1 incy=1
      DO 40 J = 1,N
         IF (Y(JY).NE.0.0D0) THEN
            TEMP = ALPHA*Y(JY)
            IX = KX
            DO 30 I = 1,M
               A(I,J) = A(I,J) + X(IX)*TEMP
               IX = IX + INCX
   30       CONTINUE
         END IF
         JY = JY + INCY
   40 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYMVU(N,ALPHA,A,LDA,X,Y)
C     A SYMMETRIC, ITS UPPER TRIANGLE
      INTEGER N,LDA,I,J
      DOUBLE PRECISION ALPHA,A(LDA,*),X(*),Y(*),TEMP1,TEMP2
C@ begin n=2048 lda=2048
      DO 60 J = 1,N
         TEMP1 = ALPHA*X(J)
         TEMP2 = 0.0D0
         DO 50 I = 1,J - 1
            Y(I) = Y(I) + TEMP1*A(I,J)
            TEMP2 = TEMP2 + A(I,J)*X(I)
   50    CONTINUE
         Y(J) = Y(J) + TEMP1*A(J,J) + ALPHA*TEMP2
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYMVL(N,ALPHA,A,LDA,X,INCX,Y,INCY)
      INTEGER N,LDA,INCX,INCY,I,J,IX,IY,JX,JY,KX,KY
      DOUBLE PRECISION ALPHA,A(LDA,*),X(*),Y(*),TEMP1,TEMP2
      KX = 1
      KY = 1
      IF (INCX.LT.0) KX = 1 - (N-1)*INCX
      IF (INCY.LT.0) KY = 1 - (N-1)*INCY
C@ begin n=2048 lda=2048 incx=1 incy=1
      JX = KX
      JY = KY
      DO 120 J = 1,N
         TEMP1 = ALPHA*X(JX)
         TEMP2 = 0.0D0
         Y(JY) = Y(JY) + TEMP1*A(J,J)
         IX = JX
         IY = JY
         DO 110 I = J + 1,N
            IX = IX + INCX
            IY = IY + INCY
            Y(IY) = Y(IY) + TEMP1*A(I,J)
            TEMP2 = TEMP2 + A(I,J)*X(IX)
  110    CONTINUE
         Y(JY) = Y(JY) + ALPHA*TEMP2
         JX = JX + INCX
         JY = JY + INCY
  120 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYRU(N,ALPHA,X,A,LDA)
      INTEGER N,LDA,I,J
      DOUBLE PRECISION ALPHA,X(*),A(LDA,*),TEMP
C@ begin n=2048 lda=2048
      DO 20 J = 1,N
         IF (X(J).NE.0.0D0) THEN
            TEMP = ALPHA*X(J)
            DO 10 I = 1,J
               A(I,J) = A(I,J) + X(I)*TEMP
   10       CONTINUE
         END IF
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSYR2L(N,ALPHA,X,INCX,Y,INCY,A,LDA)
      INTEGER N,INCX,INCY,LDA,I,IX,IY,J,JX,JY
      DOUBLE PRECISION ALPHA,X(*),Y(*),A(LDA,*),TEMP1,TEMP2
      JX = 1
      JY = 1
      IF (INCX.LT.0) JX = 1 - (N-1)*INCX
      IF (INCY.LT.0) JY = 1 - (N-1)*INCY
C@ begin n=2048 incx=1 incy=1 lda=2048
      DO 80 J = 1,N
         IF ((X(JX).NE.0.0D0) .OR. (Y(JY).NE.0.0D0)) THEN
            TEMP1 = ALPHA*Y(JY)
            TEMP2 = ALPHA*X(JX)
            IX = JX
            IY = JY
            DO 70 I = J,N
               A(I,J) = A(I,J) + X(IX)*TEMP1 + Y(IY)*TEMP2
               IX = IX + INCX
               IY = IY + INCY
   70       CONTINUE
         END IF
         JX = JX + INCX
         JY = JY + INCY
   80 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRMVN(N,A,LDA,X,NOUNIT)
C     X := A*X, A UPPER TRIANGULAR: X(J) IS READ BEFORE IT IS SCALED
      INTEGER N,LDA,I,J
      LOGICAL NOUNIT
      DOUBLE PRECISION A(LDA,*),X(*),TEMP
C@ begin n=2048 lda=2048
      DO 20 J = 1,N
         IF (X(J).NE.0.0D0) THEN
            TEMP = X(J)
            DO 10 I = 1,J - 1
               X(I) = X(I) + TEMP*A(I,J)
   10       CONTINUE
            IF (NOUNIT) X(J) = X(J)*A(J,J)
         END IF
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRMVT(N,A,LDA,X,INCX,NOUNIT)
      INTEGER N,LDA,INCX,I,IX,J,JX,KX
      LOGICAL NOUNIT
      DOUBLE PRECISION A(LDA,*),X(*),TEMP
      KX = 1
      IF (INCX.LT.0) KX = 1 - (N-1)*INCX
C@ begin n=2048 lda=2048 incx=1
      JX = KX + (N-1)*INCX
      DO 120 J = N,1,-1
         TEMP = X(JX)
         IX = JX
         IF (NOUNIT) TEMP = TEMP*A(J,J)
         DO 110 I = J - 1,1,-1
            IX = IX - INCX
            TEMP = TEMP + A(I,J)*X(IX)
  110    CONTINUE
         X(JX) = TEMP
         JX = JX - INCX
  120 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRSVU(N,A,LDA,X,NOUNIT)
      INTEGER N,LDA,I,J
      LOGICAL NOUNIT
      DOUBLE PRECISION A(LDA,*),X(*),TEMP
C@ begin n=2048 lda=2048
      DO 20 J = N,1,-1
         IF (X(J).NE.0.0D0) THEN
            IF (NOUNIT) X(J) = X(J)/A(J,J)
            TEMP = X(J)
            DO 10 I = J - 1,1,-1
               X(I) = X(I) - TEMP*A(I,J)
   10       CONTINUE
         END IF
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTRSVT(N,A,LDA,X,NOUNIT)
      INTEGER N,LDA,I,J
      LOGICAL NOUNIT
      DOUBLE PRECISION A(LDA,*),X(*),TEMP
C@ begin n=2048 lda=2048
      DO 100 J = 1,N
         TEMP = X(J)
         DO 90 I = 1,J - 1
            TEMP = TEMP - A(I,J)*X(I)
   90    CONTINUE
         IF (NOUNIT) TEMP = TEMP/A(J,J)
         X(J) = TEMP
  100 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGBMVN(M,N,KL,KU,ALPHA,A,LDA,X,Y)
C     A BAND MATRIX
      INTEGER M,N,KL,KU,LDA,I,J,K,KUP1
      DOUBLE PRECISION ALPHA,A(LDA,*),X(*),Y(*),TEMP
      KUP1 = KU + 1
C@ begin m=4096 n=4096 kl=8 ku=8 lda=17
      DO 60 J = 1,N
         TEMP = ALPHA*X(J)
         K = KUP1 - J
         DO 50 I = MAX(1,J-KU),MIN(M,J+KL)
            Y(I) = Y(I) + TEMP*A(K+I,J)
   50    CONTINUE
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGBMVT(M,N,KL,KU,ALPHA,A,LDA,X,INCX,Y,INCY)
C     ITS TRANSPOSE, WITH STRIDES: THE START MOVES ONCE THE BAND LEAVES
C     THE FIRST ROW
      INTEGER M,N,KL,KU,LDA,INCX,INCY,I,IX,J,JY,K,KUP1,KX
      DOUBLE PRECISION ALPHA,A(LDA,*),X(*),Y(*),TEMP
      KUP1 = KU + 1
      KX = 1
      JY = 1
C@ begin m=4096 n=4096 kl=8 ku=8 lda=17 incx=1 incy=1
      DO 120 J = 1,N
         TEMP = 0.0D0
         IX = KX
         K = KUP1 - J
         DO 110 I = MAX(1,J-KU),MIN(M,J+KL)
            TEMP = TEMP + A(K+I,J)*X(IX)
            IX = IX + INCX
  110    CONTINUE
         Y(JY) = Y(JY) + ALPHA*TEMP
         JY = JY + INCY
         IF (J.GT.KU) KX = KX + INCX
  120 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSBMVU(N,K,ALPHA,A,LDA,X,Y)
      INTEGER N,K,LDA,I,J,L,KPLUS1
      DOUBLE PRECISION ALPHA,A(LDA,*),X(*),Y(*),TEMP1,TEMP2
      KPLUS1 = K + 1
C@ begin n=4096 k=8 lda=9
      DO 60 J = 1,N
         TEMP1 = ALPHA*X(J)
         TEMP2 = 0.0D0
         L = KPLUS1 - J
         DO 50 I = MAX(1,J-K),J - 1
            Y(I) = Y(I) + TEMP1*A(L+I,J)
            TEMP2 = TEMP2 + A(L+I,J)*X(I)
   50    CONTINUE
         Y(J) = Y(J) + TEMP1*A(KPLUS1,J) + ALPHA*TEMP2
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSPMVU(N,ALPHA,AP,X,Y)
C     PACKED STORAGE: KK WALKS BY COLUMNS OF GROWING LENGTH
      INTEGER N,I,J,K,KK
      DOUBLE PRECISION ALPHA,AP(*),X(*),Y(*),TEMP1,TEMP2
C@ begin n=2048
      KK = 1
      DO 60 J = 1,N
         TEMP1 = ALPHA*X(J)
         TEMP2 = 0.0D0
         K = KK
         DO 50 I = 1,J - 1
            Y(I) = Y(I) + TEMP1*AP(K)
            TEMP2 = TEMP2 + AP(K)*X(I)
            K = K + 1
   50    CONTINUE
         Y(J) = Y(J) + TEMP1*AP(KK+J-1) + ALPHA*TEMP2
         KK = KK + J
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSPRL(N,ALPHA,X,AP)
      INTEGER N,I,J,K,KK
      DOUBLE PRECISION ALPHA,X(*),AP(*),TEMP
C@ begin n=2048
      KK = 1
      DO 60 J = 1,N
         IF (X(J).NE.0.0D0) THEN
            TEMP = ALPHA*X(J)
            K = KK
            DO 50 I = J,N
               AP(K) = AP(K) + X(I)*TEMP
               K = K + 1
   50       CONTINUE
         END IF
         KK = KK + N - J + 1
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSPR2U(N,ALPHA,X,INCX,Y,INCY,AP)
      INTEGER N,INCX,INCY,I,IX,IY,J,JX,JY,K,KK,KX,KY
      DOUBLE PRECISION ALPHA,X(*),Y(*),AP(*),TEMP1,TEMP2
      KX = 1
      KY = 1
      IF (INCX.LT.0) KX = 1 - (N-1)*INCX
      IF (INCY.LT.0) KY = 1 - (N-1)*INCY
      JX = KX
      JY = KY
C@ begin n=2048 incx=1 incy=1
      KK = 1
      DO 40 J = 1,N
         IF ((X(JX).NE.0.0D0) .OR. (Y(JY).NE.0.0D0)) THEN
            TEMP1 = ALPHA*Y(JY)
            TEMP2 = ALPHA*X(JX)
            IX = KX
            IY = KY
            DO 30 K = KK,KK + J - 1
               AP(K) = AP(K) + X(IX)*TEMP1 + Y(IY)*TEMP2
               IX = IX + INCX
               IY = IY + INCY
   30       CONTINUE
         END IF
         JX = JX + INCX
         JY = JY + INCY
         KK = KK + J
   40 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTPMVT(N,AP,X,NOUNIT)
C     PACKED TRIANGULAR, TRANSPOSED: THE COLUMNS FROM THE LAST ONE DOWN
      INTEGER N,I,J,K,KK
      LOGICAL NOUNIT
      DOUBLE PRECISION AP(*),X(*),TEMP
C@ begin n=2048
      KK = (N*(N+1))/2
      DO 100 J = N,1,-1
         TEMP = X(J)
         IF (NOUNIT) TEMP = TEMP*AP(KK)
         K = KK - 1
         DO 90 I = J - 1,1,-1
            TEMP = TEMP + AP(K)*X(I)
            K = K - 1
   90    CONTINUE
         X(J) = TEMP
         KK = KK - J
  100 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTPSVU(N,AP,X,NOUNIT)
      INTEGER N,I,J,K,KK
      LOGICAL NOUNIT
      DOUBLE PRECISION AP(*),X(*),TEMP
C@ begin n=2048
      KK = (N*(N+1))/2
      DO 20 J = N,1,-1
         IF (X(J).NE.0.0D0) THEN
            IF (NOUNIT) X(J) = X(J)/AP(KK)
            TEMP = X(J)
            K = KK - 1
            DO 10 I = J - 1,1,-1
               X(I) = X(I) - TEMP*AP(K)
               K = K - 1
   10       CONTINUE
         END IF
         KK = KK - J
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DTBMVN(N,K,A,LDA,X,NOUNIT)
      INTEGER N,K,LDA,I,J,L,KPLUS1
      LOGICAL NOUNIT
      DOUBLE PRECISION A(LDA,*),X(*),TEMP
      KPLUS1 = K + 1
C@ begin n=4096 k=8 lda=9
      DO 20 J = 1,N
         IF (X(J).NE.0.0D0) THEN
            TEMP = X(J)
            L = KPLUS1 - J
            DO 10 I = MAX(1,J-K),J - 1
               X(I) = X(I) + TEMP*A(L+I,J)
   10       CONTINUE
            IF (NOUNIT) X(J) = X(J)*A(KPLUS1,J)
         END IF
   20 CONTINUE
C@ end
      RETURN
      END
