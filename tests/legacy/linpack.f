C@ f2c
      SUBROUTINE DGEFA1(A,LDA,N,IPVT)
C     GAUSSIAN ELIMINATION, BY COLUMNS, WITH ITS BLAS WRITTEN OUT
      INTEGER LDA,N,IPVT(*),I,J,K,KP1,L,NM1
      DOUBLE PRECISION A(LDA,*),T
      NM1 = N - 1
C@ begin n=512 lda=512
      DO 60 K = 1,NM1
         KP1 = K + 1
         L = IPVT(K)
         T = A(L,K)
         A(L,K) = A(K,K)
         A(K,K) = T
         T = -1.0D0/A(K,K)
         DO 10 I = KP1,N
            A(I,K) = T*A(I,K)
   10    CONTINUE
         DO 50 J = KP1,N
            T = A(L,J)
            IF (L.EQ.K) GO TO 30
            A(L,J) = A(K,J)
            A(K,J) = T
   30       CONTINUE
            DO 40 I = KP1,N
               A(I,J) = A(I,J) + T*A(I,K)
   40       CONTINUE
   50    CONTINUE
   60 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGEFAU(A,LDA,N,K)
C     ONE STEP'S UPDATE OF THE TRAILING COLUMNS
      INTEGER LDA,N,I,J,K,KP1
      DOUBLE PRECISION A(LDA,*),T
      KP1 = K + 1
C@ begin n=2048 lda=2048 k=1
      DO 50 J = KP1,N
         T = A(K,J)
         DO 40 I = KP1,N
            A(I,J) = A(I,J) + T*A(I,K)
   40    CONTINUE
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGESLF(A,LDA,N,IPVT,B)
C     FORWARD ELIMINATION OF A RIGHT HAND SIDE
      INTEGER LDA,N,IPVT(*),I,K,L,NM1
      DOUBLE PRECISION A(LDA,*),B(*),T
      NM1 = N - 1
C@ begin n=1024 lda=1024
      DO 20 K = 1,NM1
         L = IPVT(K)
         T = B(L)
         IF (L.EQ.K) GO TO 10
         B(L) = B(K)
         B(K) = T
   10    CONTINUE
         DO 15 I = K + 1,N
            B(I) = B(I) + T*A(I,K)
   15    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGESLB(A,LDA,N,B)
C     BACK SUBSTITUTION: THE LOOP COUNTS UP, THE COLUMN DOWN
      INTEGER LDA,N,I,K,KB
      DOUBLE PRECISION A(LDA,*),B(*),T
C@ begin n=1024 lda=1024
      DO 40 KB = 1,N
         K = N + 1 - KB
         B(K) = B(K)/A(K,K)
         T = -B(K)
         DO 30 I = 1,K - 1
            B(I) = B(I) + T*A(I,K)
   30    CONTINUE
   40 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DPOFA1(A,LDA,N)
C     CHOLESKY BY COLUMNS OF THE UPPER TRIANGLE
      INTEGER LDA,N,I,J,K,JM1
      DOUBLE PRECISION A(LDA,*),T,S
C@ begin n=512 lda=512
      DO 30 J = 1,N
         S = 0.0D0
         JM1 = J - 1
         DO 10 K = 1,JM1
            T = A(K,J)
            DO 5 I = 1,K - 1
               T = T - A(I,K)*A(I,J)
    5       CONTINUE
            T = T/A(K,K)
            A(K,J) = T
            S = S + T*T
   10    CONTINUE
         S = A(J,J) - S
         A(J,J) = DSQRT(S)
   30 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DQRDCU(X,LDX,N,P,L)
C     A HOUSEHOLDER COLUMN APPLIED TO THOSE BEHIND IT
      INTEGER LDX,N,P,L,I,J
      DOUBLE PRECISION X(LDX,*),T
C@ begin n=1024 p=1024 ldx=1024 l=1
      DO 160 J = L + 1,P
         T = 0.0D0
         DO 140 I = L,N
            T = T - X(I,L)*X(I,J)
  140    CONTINUE
         T = T/X(L,L)
         DO 150 I = L,N
            X(I,J) = X(I,J) + T*X(I,L)
  150    CONTINUE
  160 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DQRDCN(X,LDX,N,P,L,QRAUX,WORK)
C     THE SAME WITH THE NORMS OF THE REMAINING COLUMNS KEPT
      INTEGER LDX,N,P,L,I,J
      DOUBLE PRECISION X(LDX,*),QRAUX(*),WORK(*),T,TT
C@ begin n=1024 p=1024 ldx=1024 l=1
      DO 160 J = L + 1,P
         T = 0.0D0
         DO 140 I = L,N
            T = T - X(I,L)*X(I,J)
  140    CONTINUE
         T = T/X(L,L)
         DO 150 I = L,N
            X(I,J) = X(I,J) + T*X(I,L)
  150    CONTINUE
         IF (QRAUX(J).EQ.0.0D0) GO TO 160
         TT = 1.0D0 - (DABS(X(L,J))/QRAUX(J))**2
         TT = DMAX1(TT,0.0D0)
         T = TT
         TT = 1.0D0 + 0.05D0*TT*(QRAUX(J)/WORK(J))**2
         IF (TT.EQ.1.0D0) GO TO 160
         QRAUX(J) = QRAUX(J)*DSQRT(T)
  160 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGBFAU(ABD,LDA,N,K,JU,LM,M)
C     A STEP OF THE BAND FACTORISATION: THE DIAGONAL MOVES UP EACH COLUMN
      INTEGER LDA,N,K,JU,LM,M,I,J,MM
      DOUBLE PRECISION ABD(LDA,*),T
C@ begin n=4096 lda=64 k=1 ju=32 lm=24 m=33
      MM = M
      DO 80 J = K + 1,JU
         MM = MM - 1
         T = ABD(MM,J)
         DO 70 I = 1,LM
            ABD(MM+I,J) = ABD(MM+I,J) + T*ABD(M+I,K)
   70    CONTINUE
   80 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGTSL1(N,C,D,E,B)
C     TRIDIAGONAL, WITHOUT PIVOTS
      INTEGER N,I,K
      DOUBLE PRECISION C(*),D(*),E(*),B(*),T
C@ begin n=100000
      DO 10 K = 2,N
         T = C(K)/D(K-1)
         D(K) = D(K) - T*E(K-1)
         B(K) = B(K) - T*B(K-1)
   10 CONTINUE
      B(N) = B(N)/D(N)
      DO 20 I = N - 1,1,-1
         B(I) = (B(I) - E(I)*B(I+1))/D(I)
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DGTSLM(N,M,LDB,C,D,E,B)
C     MANY RIGHT HAND SIDES, THE SYSTEMS INNERMOST
      INTEGER N,M,LDB,I,J
      DOUBLE PRECISION C(*),D(*),E(*),B(LDB,*),T
C@ begin n=256 m=4096 ldb=4096
      DO 20 J = 2,N
         T = C(J)/D(J-1)
         D(J) = D(J) - T*E(J-1)
         DO 10 I = 1,M
            B(I,J) = B(I,J) - T*B(I,J-1)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
