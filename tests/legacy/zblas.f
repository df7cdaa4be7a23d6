C@ f2c -a
      SUBROUTINE ZAXPYS(N,ZA,ZX,INCX,ZY,INCY)
      INTEGER N,INCX,INCY,I,IX,IY
      COMPLEX*16 ZA,ZX(*),ZY(*)
C@ begin n=1000000 incx=1 incy=1
      IX = 1
      IY = 1
      IF (INCX.LT.0) IX = (-N+1)*INCX + 1
      IF (INCY.LT.0) IY = (-N+1)*INCY + 1
      DO 10 I = 1,N
         ZY(IY) = ZY(IY) + ZA*ZX(IX)
         IX = IX + INCX
         IY = IY + INCY
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZSCALU(N,ZA,ZX)
      INTEGER N,I
      COMPLEX*16 ZA,ZX(*)
C@ begin n=1000000
      DO 30 I = 1,N
         ZX(I) = ZA*ZX(I)
   30 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZDOTCU(N,ZX,ZY,ZS)
C     CONJUGATED DOT PRODUCT, THE RESULT AN ARGUMENT
      INTEGER N,I
      COMPLEX*16 ZX(*),ZY(*),ZS
C@ begin n=1000000
      ZS = (0.0D0,0.0D0)
      DO 30 I = 1,N
         ZS = ZS + DCONJG(ZX(I))*ZY(I)
   30 CONTINUE
C@ end
      RETURN
      END
      DOUBLE PRECISION FUNCTION DZASUM(N,ZX)
      INTEGER N,I
      COMPLEX*16 ZX(*)
      DOUBLE PRECISION STEMP
      STEMP = 0.0D0
C@ begin n=1000000
      DO 30 I = 1,N
         STEMP = STEMP + DABS(DBLE(ZX(I))) + DABS(DIMAG(ZX(I)))
   30 CONTINUE
C@ end
      DZASUM = STEMP
      RETURN
      END
      SUBROUTINE ZGEMVN(M,N,ALPHA,A,LDA,X,Y)
      INTEGER M,N,LDA,I,J
      COMPLEX*16 ALPHA,A(LDA,*),X(*),Y(*),TEMP
C@ begin m=1024 n=1024 lda=1024
      DO 60 J = 1,N
         TEMP = ALPHA*X(J)
         DO 50 I = 1,M
            Y(I) = Y(I) + TEMP*A(I,J)
   50    CONTINUE
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZGEMVC(M,N,ALPHA,A,LDA,X,INCX,Y,INCY,NOCONJ)
      INTEGER M,N,LDA,INCX,INCY,I,IX,J,JY,KX
      LOGICAL NOCONJ
      COMPLEX*16 ALPHA,A(LDA,*),X(*),Y(*),TEMP
      KX = 1
      IF (INCX.LT.0) KX = 1 - (M-1)*INCX
      JY = 1
      IF (INCY.LT.0) JY = 1 - (N-1)*INCY
C@ begin m=1024 n=1024 lda=1024 incx=1 incy=1
      DO 140 J = 1,N
         TEMP = (0.0D0,0.0D0)
         IX = KX
         IF (NOCONJ) THEN
            DO 120 I = 1,M
               TEMP = TEMP + A(I,J)*X(IX)
               IX = IX + INCX
  120       CONTINUE
         ELSE
            DO 130 I = 1,M
               TEMP = TEMP + DCONJG(A(I,J))*X(IX)
               IX = IX + INCX
  130       CONTINUE
         END IF
         Y(JY) = Y(JY) + ALPHA*TEMP
         JY = JY + INCY
  140 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZGERC(M,N,ALPHA,X,Y,A,LDA)
      INTEGER M,N,LDA,I,J
      COMPLEX*16 ALPHA,X(*),Y(*),A(LDA,*),TEMP
C@ begin m=1024 n=1024 lda=1024
      DO 20 J = 1,N
         IF (Y(J).NE.(0.0D0,0.0D0)) THEN
            TEMP = ALPHA*DCONJG(Y(J))
            DO 10 I = 1,M
               A(I,J) = A(I,J) + X(I)*TEMP
   10       CONTINUE
         END IF
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZHEMVU(N,ALPHA,A,LDA,X,Y)
      INTEGER N,LDA,I,J
      COMPLEX*16 ALPHA,A(LDA,*),X(*),Y(*),TEMP1,TEMP2
C@ begin n=1024 lda=1024
      DO 60 J = 1,N
         TEMP1 = ALPHA*X(J)
         TEMP2 = (0.0D0,0.0D0)
         DO 50 I = 1,J - 1
            Y(I) = Y(I) + TEMP1*A(I,J)
            TEMP2 = TEMP2 + DCONJG(A(I,J))*X(I)
   50    CONTINUE
         Y(J) = Y(J) + TEMP1*DBLE(A(J,J)) + ALPHA*TEMP2
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZTRSVU(N,A,LDA,X)
      INTEGER N,LDA,I,J
      COMPLEX*16 A(LDA,*),X(*),TEMP
C@ begin n=1024 lda=1024
      DO 20 J = N,1,-1
         X(J) = X(J)/A(J,J)
         TEMP = X(J)
         DO 10 I = J - 1,1,-1
            X(I) = X(I) - TEMP*A(I,J)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZGEMNN(M,N,K,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
      INTEGER M,N,K,LDA,LDB,LDC,I,J,L
      COMPLEX*16 ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP
C@ begin m=256 n=256 k=256 lda=256 ldb=256 ldc=256
      DO 90 J = 1,N
         DO 60 I = 1,M
            C(I,J) = BETA*C(I,J)
   60    CONTINUE
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
      SUBROUTINE ZGEMCN(M,N,K,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
      INTEGER M,N,K,LDA,LDB,LDC,I,J,L
      COMPLEX*16 ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP,ZERO
      ZERO = (0.0D0,0.0D0)
C@ begin m=256 n=256 k=256 lda=256 ldb=256 ldc=256
      DO 150 J = 1,N
         DO 140 I = 1,M
            TEMP = ZERO
            DO 130 L = 1,K
               TEMP = TEMP + DCONJG(A(L,I))*B(L,J)
  130       CONTINUE
            IF (BETA.EQ.ZERO) THEN
               C(I,J) = ALPHA*TEMP
            ELSE
               C(I,J) = ALPHA*TEMP + BETA*C(I,J)
            END IF
  140    CONTINUE
  150 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZHERKN(N,K,ALPHA,A,LDA,BETA,C,LDC)
C     C := ALPHA*A*CONJG(A') + BETA*C: THE DIAGONAL STAYS REAL
      INTEGER N,K,LDA,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA
      COMPLEX*16 A(LDA,*),C(LDC,*),TEMP
C@ begin n=256 k=256 lda=256 ldc=256
      DO 130 J = 1,N
         DO 100 I = 1,J - 1
            C(I,J) = BETA*C(I,J)
  100    CONTINUE
         C(J,J) = BETA*DBLE(C(J,J))
         DO 120 L = 1,K
            IF (A(J,L).NE.DCMPLX(0.0D0,0.0D0)) THEN
               TEMP = ALPHA*DCONJG(A(J,L))
               DO 110 I = 1,J - 1
                  C(I,J) = C(I,J) + TEMP*A(I,L)
  110          CONTINUE
               C(J,J) = DBLE(C(J,J)) + DBLE(TEMP*A(J,L))
            END IF
  120    CONTINUE
  130 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZHERKC(N,K,ALPHA,A,LDA,BETA,C,LDC)
      INTEGER N,K,LDA,LDC,I,J,L
      DOUBLE PRECISION ALPHA,BETA,RTEMP
      COMPLEX*16 A(LDA,*),C(LDC,*),TEMP
C@ begin n=256 k=256 lda=256 ldc=256
      DO 220 J = 1,N
         DO 200 I = 1,J - 1
            TEMP = (0.0D0,0.0D0)
            DO 190 L = 1,K
               TEMP = TEMP + DCONJG(A(L,I))*A(L,J)
  190       CONTINUE
            C(I,J) = ALPHA*TEMP + BETA*C(I,J)
  200    CONTINUE
         RTEMP = 0.0D0
         DO 210 L = 1,K
            RTEMP = RTEMP + DCONJG(A(L,J))*A(L,J)
  210    CONTINUE
         C(J,J) = ALPHA*RTEMP + BETA*DBLE(C(J,J))
  220 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZHEMML(M,N,ALPHA,A,LDA,B,LDB,BETA,C,LDC)
      INTEGER M,N,LDA,LDB,LDC,I,J,K
      COMPLEX*16 ALPHA,BETA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP1,TEMP2
C@ begin m=256 n=256 lda=256 ldb=256 ldc=256
      DO 70 J = 1,N
         DO 60 I = 1,M
            TEMP1 = ALPHA*B(I,J)
            TEMP2 = (0.0D0,0.0D0)
            DO 50 K = 1,I - 1
               C(K,J) = C(K,J) + TEMP1*A(K,I)
               TEMP2 = TEMP2 + B(K,J)*DCONJG(A(K,I))
   50       CONTINUE
            C(I,J) = BETA*C(I,J) + TEMP1*DBLE(A(I,I)) + ALPHA*TEMP2
   60    CONTINUE
   70 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZTRMLU(M,N,ALPHA,A,LDA,B,LDB)
      INTEGER M,N,LDA,LDB,I,J,K
      COMPLEX*16 ALPHA,A(LDA,*),B(LDB,*),TEMP
C@ begin m=256 n=256 lda=256 ldb=256
      DO 50 J = 1,N
         DO 40 K = 1,M
            IF (B(K,J).NE.(0.0D0,0.0D0)) THEN
               TEMP = ALPHA*B(K,J)
               DO 30 I = 1,K - 1
                  B(I,J) = B(I,J) + TEMP*A(I,K)
   30          CONTINUE
               B(K,J) = TEMP*A(K,K)
            END IF
   40    CONTINUE
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZTRSLC(M,N,ALPHA,A,LDA,B,LDB)
      INTEGER M,N,LDA,LDB,I,J,K
      COMPLEX*16 ALPHA,A(LDA,*),B(LDB,*),TEMP
C@ begin m=256 n=256 lda=256 ldb=256
      DO 140 J = 1,N
         DO 130 I = 1,M
            TEMP = ALPHA*B(I,J)
            DO 120 K = 1,I - 1
               TEMP = TEMP - DCONJG(A(K,I))*B(K,J)
  120       CONTINUE
            TEMP = TEMP/DCONJG(A(I,I))
            B(I,J) = TEMP
  130    CONTINUE
  140 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ZSYR2N(N,K,ALPHA,A,LDA,B,LDB,C,LDC)
      INTEGER N,K,LDA,LDB,LDC,I,J,L
      COMPLEX*16 ALPHA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP1,TEMP2
C@ begin n=256 k=256 lda=256 ldb=256 ldc=256
      DO 130 J = 1,N
         DO 120 L = 1,K
            TEMP1 = ALPHA*B(J,L)
            TEMP2 = ALPHA*A(J,L)
            DO 110 I = J,N
               C(I,J) = C(I,J) + A(I,L)*TEMP1 + B(I,L)*TEMP2
  110       CONTINUE
  120    CONTINUE
  130 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE CGEMNN(M,N,K,ALPHA,A,LDA,B,LDB,C,LDC)
C     SINGLE PRECISION
      INTEGER M,N,K,LDA,LDB,LDC,I,J,L
      COMPLEX ALPHA,A(LDA,*),B(LDB,*),C(LDC,*),TEMP
C@ begin m=256 n=256 k=256 lda=256 ldb=256 ldc=256
      DO 90 J = 1,N
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
